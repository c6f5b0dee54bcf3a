import { statSync } from "node:fs";
import { type AgenticPlan, createSystemClock, type Json } from "@ergon/core";
import { planError, planNotFound } from "@ergon/core/schema";
import { createIds } from "@ergon/core/store-kit";
import type { NewRun } from "@ergon/core/engine";
import { FIRST_PRINCIPAL, readPlanDocument } from "@ergon/node";
import type { App } from "../../workspace/app.ts";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { reportDryRun } from "../output/dry-run-report.ts";
import { readArgs } from "../read-args.ts";
import { startOnce } from "../../services/go-once.ts";
import { runAndWatch } from "../../services/watch-session.ts";
import { throughOwner } from "../../workspace/through-owner.ts";

export type RunOptions = { readonly plan: string; readonly input: string; readonly id?: string | undefined };

export async function runPlan(context: CommandContext, options: RunOptions): Promise<ExitCode> {
  const input = (await readArgs(options.input, process.stdin, "--input")) as Json;
  const app = await context.compose();
  try {
    const plan = await findPlan(app, options.plan);
    if (options.id !== undefined) return await runOnce(context, app, { plan, input, id: options.id });
    const sessionId = createIds({ clock: createSystemClock() }).next("ses");
    const go = startOnce({ owner: FIRST_PRINCIPAL, sessionId, plan, input });
    let said = false;
    return await runAndWatch(context, app, {
      sessionId,
      go: async (engine, before) => {
        await go(engine, undefined, before);
        if (!said && !context.terminal.json) context.terminal.print(`session ${sessionId}`);
        said = true;
      },
    });
  } finally {
    await app.close();
  }
}

/** The session is known once the owner of the folder has found the run, or begun it. */
async function runOnce(context: CommandContext, app: App, run: Omit<NewRun, "owner">): Promise<ExitCode> {
  const { terminal } = context;
  const { sessionId } = await throughOwner(app, { recover: true, repeatable: true }, ({ engine }) =>
    engine.startRun({ owner: FIRST_PRINCIPAL, ...run }),
  );
  if (!terminal.json) terminal.print(`session ${sessionId}`);
  return await runAndWatch(context, app, { sessionId, isShownWhole: true, go: async () => undefined });
}

/** Needs no data folder, and so makes none. */
export async function dryRunPlan({ terminal, compose }: CommandContext, options: RunOptions): Promise<ExitCode> {
  const input = (await readArgs(options.input, process.stdin, "--input")) as Json;
  const app = await compose();
  try {
    const plan = await findPlan(app, options.plan);
    const report = await app.dryRun({ owner: FIRST_PRINCIPAL, plan, input });
    reportDryRun(terminal, report);
    return report.ok ? EXIT.ok : EXIT.failed;
  } finally {
    await app.close();
  }
}

/** What looks like a file is one; else a plan by its id, which a file of that name in the working folder cannot take. */
async function findPlan(app: App, named: string): Promise<AgenticPlan | string> {
  if (!/[/\\]|\.(?:json|ya?ml)$/.test(named)) {
    const plans = await app.plans();
    const known = plans.get(named);
    if (known !== undefined) return known;
    if (!isFile(named)) {
      // The owner of the folder may know it; where there is no folder, nobody does.
      if ((await app.inspectData()).state === "absent") throw planNotFound(named, plans.ids());
      return named;
    }
  }
  const document = await readPlanDocument(named);
  if ("problem" in document)
    throw planError("plan_invalid", `${named}: ${document.problem.reason}`, { details: { file: named } });
  // Its form is preflight's question: there every problem is named at once.
  return document.value as AgenticPlan;
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
