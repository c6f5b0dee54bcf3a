import {
  type ApprovalDecision,
  ApprovalState,
  type DecidedApproval,
  MAX_FEEDBACK_CHARS,
  Remember,
  usageError,
} from "@ergon/core/schema";
import type { App } from "../../workspace/app.ts";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { APPROVAL_COLUMNS, approvalRow, briefArguments, describeApproval } from "../output/approval-report.ts";
import { oneLine } from "../output/printable.ts";
import { exitCodeFor } from "../output/session-report.ts";
import { table } from "../output/table.ts";
import { wholeNumber } from "../read-args.ts";
import { LOOK, orEmpty, throughOwner } from "../../workspace/through-owner.ts";
import { runAndWatch } from "../../services/watch-session.ts";
import { wholeApprovalId } from "../../services/whole-id.ts";

export type ListOptions = { readonly state: string; readonly limit: string; readonly cursor?: string };

export async function listApprovals(
  { terminal, compose }: CommandContext,
  { state, limit, cursor }: ListOptions,
): Promise<ExitCode> {
  const wanted = readState(state);
  const query = {
    limit: wholeNumber(limit, "--limit"),
    ...(wanted === undefined ? {} : { state: wanted }),
    ...(cursor === undefined ? {} : { cursor }),
  };
  return await withApp(compose, async (app) => {
    const page = await orEmpty(
      throughOwner(app, LOOK, ({ approvals }) => approvals.list(query)),
      { items: [] },
    );
    if (terminal.json) {
      terminal.printJson(page);
      return EXIT.ok;
    }
    if (page.items.length === 0) {
      const what = wanted === undefined ? "" : `${wanted} `;
      terminal.note(wanted === "pending" ? "Nothing waits for your approval." : `There are no ${what}approvals.`);
      return EXIT.ok;
    }
    terminal.print(table(page.items.map(approvalRow), { columns: terminal.columns, header: APPROVAL_COLUMNS }));
    if (page.nextCursor !== undefined) terminal.note(`There are more: --cursor '${page.nextCursor}'`);
    if (wanted === "pending")
      terminal.note(`Look before you answer: ${terminal.command} approvals show ID, then approve ID or deny ID.`);
    return EXIT.ok;
  });
}

export async function showApproval({ terminal, compose }: CommandContext, id: string): Promise<ExitCode> {
  return await withApp(compose, async (app) => {
    const whole = await wholeApprovalId(app, id);
    const approval = await throughOwner(app, LOOK, ({ approvals }) => approvals.find(whole));
    if (terminal.json) terminal.printJson(approval);
    else terminal.print(describeApproval(terminal, approval));
    return EXIT.ok;
  });
}

export type DecideOptions = {
  readonly id: string;
  readonly decision: ApprovalDecision["decision"];
  readonly remember?: string;
  readonly feedback?: string;
};

/** Answers, and follows the session that goes on with it; a refusal has done its work when it is heard. */
export async function decideApproval(context: CommandContext, options: DecideOptions): Promise<ExitCode> {
  const { terminal } = context;
  const { id, decision } = options;
  const given = readDecision(options);
  return await withApp(context.compose, async (app) => {
    const whole = await wholeApprovalId(app, id);
    // Giving the same answer again is no other answer, so a lost one may be repeated.
    const approval = await throughOwner(app, { recover: true, repeatable: true }, ({ approvals }) =>
      approvals.decide(whole, given),
    );
    if (!terminal.json) {
      terminal.print(`${approval.state} ${oneLine(approval.tool)} ${briefArguments(approval.parameters)}`);
      if (given.remember !== undefined) terminal.note(rememberedNote(approval, given.remember));
    }
    const { owner, sessionId } = approval;
    if (sessionId === undefined) {
      if (terminal.json) terminal.printJson({ approval });
      return EXIT.ok;
    }
    if (terminal.json) {
      const core = await throughOwner(app, { recover: true, repeatable: true }, ({ engine }) =>
        engine.settled({ owner, sessionId, signal: context.signal }),
      );
      terminal.printJson({ approval, core });
      return decision === "deny" ? EXIT.ok : exitCodeFor(core);
    }
    const exit = await runAndWatch(context, app, {
      owner,
      sessionId,
      go: () => Promise.resolve(),
      isEmptyEndSilent: decision === "deny",
    });
    return decision === "deny" ? EXIT.ok : exit;
  });
}

function rememberedNote({ tool, server, remembered }: DecidedApproval, remember: Remember): string {
  if (remembered === undefined)
    return `"${oneLine(tool)}" has changed since you were asked; it is not allowed for good, and you are asked again.`;
  const what =
    remember === "tool" ? `"${tool}" as it is now is` : `The tools that the server "${server ?? ""}" has now are`;
  return `${what} allowed for good; once changed, you are asked again.`;
}

function readDecision({ decision, remember, feedback }: DecideOptions): ApprovalDecision {
  const wanted = remember === undefined ? undefined : Remember.safeParse(remember);
  if (wanted?.success === false)
    throw usageError("input_invalid", `--remember is tool or server, not "${String(remember)}".`);
  if (feedback !== undefined && feedback.length > MAX_FEEDBACK_CHARS)
    throw usageError("input_invalid", `--feedback may have ${String(MAX_FEEDBACK_CHARS)} characters at most.`);
  return {
    decision,
    ...(wanted === undefined ? {} : { remember: wanted.data }),
    ...(feedback === undefined ? {} : { feedback }),
  };
}

function readState(given: string): ApprovalState | undefined {
  if (given === "all") return undefined;
  const parsed = ApprovalState.safeParse(given);
  if (parsed.success) return parsed.data;
  throw usageError("input_invalid", `--state is ${ApprovalState.options.join(", ")} or all, not "${given}".`);
}

async function withApp(compose: CommandContext["compose"], work: (app: App) => Promise<ExitCode>): Promise<ExitCode> {
  const app = await compose();
  try {
    return await work(app);
  } finally {
    await app.close();
  }
}
