import { type SessionCore, SessionStatus } from "@ergon/core";
import {
  type Correction,
  type HistoryEntry,
  isCorrectionSession,
  isSettled,
  type OpenCall,
  usageError,
} from "@ergon/core/schema";
import type { Page } from "@ergon/core/store-kit";
import type { Engine, ListSessions, SessionView } from "@ergon/core/engine";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { App } from "../../workspace/app.ts";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { describeCorrection } from "../output/describe-correction.ts";
import { oneLine, printable } from "../output/printable.ts";
import { describeValue, reportSession } from "../output/session-report.ts";
import { table } from "../output/table.ts";
import { wholeNumber } from "../read-args.ts";
import { LOOK, orEmpty, throughOwner } from "../../workspace/through-owner.ts";
import { wholeSessionId } from "../../services/whole-id.ts";

export type ListOptions = {
  readonly status?: string;
  readonly limit: string;
  readonly cursor?: string;
  /** Calls of single tools and corrections, too: each has a session of its own. */
  readonly all?: boolean;
};

/** A list that hides much reads on for what it shows, but not without end. */
const MAX_LIST_PAGES = 20;

export async function listSessions({ terminal, compose }: CommandContext, options: ListOptions): Promise<ExitCode> {
  const limit = wholeNumber(options.limit, "--limit");
  const status = options.status === undefined ? {} : { status: statuses(options.status) };
  const cursor = options.cursor === undefined ? {} : { cursor: options.cursor };
  const app = await compose();
  try {
    const query = { owner: FIRST_PRINCIPAL, limit, ...status, ...cursor };
    const look = throughOwner(app, LOOK, async ({ engine, isOwner }) => ({
      page: await (options.all === true ? engine.listSessions(query) : listRuns(engine, query)),
      isOwner,
    }));
    const { page, isOwner } = await orEmpty(look, { page: { items: [] }, isOwner: false });
    if (terminal.json) {
      terminal.printJson(page);
      return EXIT.ok;
    }
    if (page.items.length === 0) {
      terminal.note(`No sessions yet. Start one: ${terminal.command} run PLAN  (${terminal.command} plans lists them)`);
      return EXIT.ok;
    }
    const rows = page.items.map((core) => [
      core.sessionId,
      statusOf(core, isOwner),
      core.currentPlanId ?? "-",
      core.updatedAt,
    ]);
    terminal.print(table(rows, { columns: terminal.columns, header: ["SESSION", "STATUS", "PLAN", "UPDATED"] }));
    const left = page.items.find((core) => isLeft(core, isOwner));
    if (left !== undefined) terminal.note(takeUp(terminal, left));
    if (page.nextCursor !== undefined)
      terminal.note(`More: ${terminal.command} sessions list --cursor ${page.nextCursor}`);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

/** Unfinished, and we own the folder and do not work on it: no process does. */
function isLeft(core: SessionCore, isOwner: boolean): boolean {
  return isOwner && !isSettled(core);
}

function statusOf(core: SessionCore, isOwner: boolean): string {
  return isLeft(core, isOwner) ? `${core.status} (no process)` : core.status;
}

function takeUp({ command }: CommandContext["terminal"], { sessionId }: SessionCore): string {
  return `No process works on it. Take it up: ${command} resume ${sessionId}   (${command} serve takes up all)`;
}

/** Without the sessions of single calls and of corrections. */
async function listRuns(engine: Engine, query: ListSessions): Promise<Page<SessionCore>> {
  const items: SessionCore[] = [];
  let { cursor } = query;
  for (let pages = 0; pages < MAX_LIST_PAGES; pages++) {
    const limit = query.limit - items.length;
    const page = await engine.listSessions({ ...query, limit, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...page.items.filter((core) => !isAside(core)));
    cursor = page.nextCursor;
    if (cursor === undefined || items.length >= query.limit) break;
  }
  return { items, ...(cursor === undefined ? {} : { nextCursor: cursor }) };
}

/** One that waits for somebody is shown all the same. */
function isAside({ sessionId, status }: SessionCore): boolean {
  return (sessionId.startsWith("call_") || isCorrectionSession(sessionId)) && status !== "paused_on_human";
}

export async function showSession({ terminal, compose }: CommandContext, given: string): Promise<ExitCode> {
  const app = await compose();
  try {
    const { view, isOwner } = await look(app, given);
    if (terminal.json) {
      terminal.printJson(view);
      return EXIT.ok;
    }
    const { core, context } = view;
    const { bold, dim } = terminal.colors;
    terminal.print(
      `${bold(core.sessionId)}  ${statusOf(core, isOwner)}  ${dim(`plan ${core.currentPlanId ?? "-"}, updated ${core.updatedAt}`)}`,
    );
    if (core.forkedFrom !== undefined)
      terminal.print(dim(`  forked from ${core.forkedFrom.sessionId} at ${core.forkedFrom.stepId}`));
    for (const [key, value] of Object.entries(context))
      terminal.print(`  ${key}: ${oneLine(describeValue(value, terminal))}`);
    for (const call of view.openCalls ?? []) terminal.print(`  ${describeOpen(terminal, call, isLeft(core, isOwner))}`);
    for (const correction of view.corrections ?? [])
      terminal.print(
        describeCorrection(correction)
          .map((line, at) => (at === 0 ? `  ⚒ ${line}` : `  ${line}`))
          .join("\n"),
      );
    if (core.status !== "completed") reportSession(terminal, view);
    if (isLeft(core, isOwner)) terminal.note(takeUp(terminal, core));
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

export async function showHistory({ terminal, compose }: CommandContext, given: string): Promise<ExitCode> {
  const app = await compose();
  try {
    const { view, isOwner } = await look(app, given);
    const { core, history, nextCursor, openCalls = [], corrections = [] } = view;
    if (terminal.json) {
      terminal.printJson({
        items: history,
        ...(nextCursor === undefined ? {} : { nextCursor }),
        ...(openCalls.length === 0 ? {} : { openCalls }),
        ...(corrections.length === 0 ? {} : { corrections }),
      });
      return EXIT.ok;
    }
    if (history.length + openCalls.length === 0) terminal.note("This session has called no tool yet.");
    if (nextCursor !== undefined)
      terminal.note(`The newest ${history.length} entries; --json gives a cursor to those before.`);
    const lines = [
      ...history.map((entry) => ({ at: entry.timestamp, text: describeEntry(terminal, entry) })),
      ...openCalls.map((call) => ({
        at: call.startedAt,
        text: describeOpen(terminal, call, isLeft(core, isOwner)),
      })),
      ...corrections.map((correction) => ({
        at: correction.proposedAt,
        text: describeInHistory(terminal, correction),
      })),
    ];
    // Stable: what happened in the same millisecond stays in its order.
    for (const { text } of corrections.length === 0
      ? lines
      : lines.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)))
      terminal.print(text);
    if (isLeft(core, isOwner)) terminal.note(takeUp(terminal, core));
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

async function look(app: App, given: string): Promise<{ readonly view: SessionView; readonly isOwner: boolean }> {
  const sessionId = await wholeSessionId(app, given);
  return throughOwner(app, LOOK, async ({ engine, isOwner }) => ({
    view: await engine.readSession({ owner: FIRST_PRINCIPAL, sessionId }),
    isOwner,
  }));
}

/** A call that has no result: what was sent, and the key under which its receiver knows it. */
function describeOpen(terminal: CommandContext["terminal"], call: OpenCall, isLeftAlone: boolean): string {
  const { dim, red, yellow } = terminal.colors;
  const { startedAt, planStepId = "-", toolId, request, effects, idempotencyKey, state } = call;
  const isUnknown = state === "unknown" || (isLeftAlone && effects === "once");
  const outcome = isUnknown ? red("outcome unknown: it may have taken effect") : yellow("no result yet");
  return `${dim(startedAt)}  ${planStepId}  ${toolId}  ${oneLine(printable(JSON.stringify(request)))} → ${outcome}, idempotency key ${idempotencyKey}`;
}

function describeEntry(terminal: CommandContext["terminal"], entry: HistoryEntry): string {
  const { dim, red } = terminal.colors;
  const { timestamp, toolId, planStepId = "-", request, result } = entry;
  const outcome =
    "output" in result ? describeValue(result.output, terminal) : red(`${result.error.code}: ${result.error.message}`);
  return `${dim(timestamp)}  ${planStepId}  ${toolId}  ${oneLine(printable(JSON.stringify(request)))} → ${oneLine(outcome)}`;
}

function describeInHistory({ colors: { dim } }: CommandContext["terminal"], correction: Correction): string {
  const [first = "", ...changes] = describeCorrection(correction);
  return [`${dim(correction.proposedAt)}  ⚒ ${first}`, ...changes.map((line) => `  ${line}`)].join("\n");
}

function statuses(given: string): SessionStatus[] {
  return given.split(",").map((word) => {
    const parsed = SessionStatus.safeParse(word.trim());
    if (parsed.success) return parsed.data;
    throw usageError("input_invalid", `"${word}" is no status; there are ${SessionStatus.options.join(", ")}.`);
  });
}
