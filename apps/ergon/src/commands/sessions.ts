import {
  type Correction,
  type Engine,
  type HistoryEntry,
  type ListSessions,
  type Page,
  type SessionCore,
  SessionStatus,
  usageError,
} from "@ergon/core";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { describeCorrection } from "../output/describe-correction.ts";
import { oneLine, printable } from "../output/printable.ts";
import { describeValue, reportSession } from "../output/session-report.ts";
import { table } from "../output/table.ts";
import { wholeNumber } from "../read-args.ts";
import { LOOK, orEmpty, throughOwner } from "../through-owner.ts";

export type ListOptions = {
  readonly status?: string;
  readonly limit: string;
  readonly cursor?: string;
  /** Calls of single tools, too: each has a session of its own. */
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
    const look = throughOwner(app, LOOK, ({ engine }) =>
      options.all === true
        ? engine.listSessions({ owner: FIRST_PRINCIPAL, limit, ...status, ...cursor })
        : listRuns(engine, { owner: FIRST_PRINCIPAL, limit, ...status, ...cursor }),
    );
    const page = await orEmpty(look, { items: [] });
    if (terminal.json) {
      terminal.printJson(page);
      return EXIT.ok;
    }
    if (page.items.length === 0) {
      terminal.note("No sessions yet. Start one: ergon run <plan>  (ergon plans lists them)");
      return EXIT.ok;
    }
    const rows = page.items.map((core) => [core.sessionId, core.status, core.currentPlanId ?? "-", core.updatedAt]);
    terminal.print(table(rows, { columns: terminal.columns, header: ["SESSION", "STATUS", "PLAN", "UPDATED"] }));
    if (page.nextCursor !== undefined) terminal.note(`More: ergon sessions list --cursor ${page.nextCursor}`);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

/** Without the sessions of single calls. */
async function listRuns(engine: Engine, query: ListSessions): Promise<Page<SessionCore>> {
  const items: SessionCore[] = [];
  let { cursor } = query;
  for (let pages = 0; pages < MAX_LIST_PAGES; pages++) {
    const limit = query.limit - items.length;
    const page = await engine.listSessions({ ...query, limit, ...(cursor === undefined ? {} : { cursor }) });
    items.push(...page.items.filter((core) => !isSingleCall(core)));
    cursor = page.nextCursor;
    if (cursor === undefined || items.length >= query.limit) break;
  }
  return { items, ...(cursor === undefined ? {} : { nextCursor: cursor }) };
}

/** One that waits for somebody is shown all the same. */
function isSingleCall({ sessionId, status }: SessionCore): boolean {
  return sessionId.startsWith("call_") && status !== "paused_on_human";
}

export async function showSession({ terminal, compose }: CommandContext, sessionId: string): Promise<ExitCode> {
  const app = await compose();
  try {
    const view = await throughOwner(app, LOOK, ({ engine }) =>
      engine.readSession({ owner: FIRST_PRINCIPAL, sessionId }),
    );
    if (terminal.json) {
      terminal.printJson(view);
      return EXIT.ok;
    }
    const { core, context } = view;
    const { bold, dim } = terminal.colors;
    terminal.print(
      `${bold(core.sessionId)}  ${core.status}  ${dim(`plan ${core.currentPlanId ?? "-"}, updated ${core.updatedAt}`)}`,
    );
    if (core.forkedFrom !== undefined)
      terminal.print(dim(`  forked from ${core.forkedFrom.sessionId} at ${core.forkedFrom.stepId}`));
    for (const [key, value] of Object.entries(context)) terminal.print(`  ${key}: ${oneLine(describeValue(value))}`);
    for (const correction of view.corrections ?? [])
      terminal.print(
        describeCorrection(correction)
          .map((line, at) => (at === 0 ? `  ⚒ ${line}` : `  ${line}`))
          .join("\n"),
      );
    if (core.status !== "completed") reportSession(terminal, view);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

export async function showHistory({ terminal, compose }: CommandContext, sessionId: string): Promise<ExitCode> {
  const app = await compose();
  try {
    const {
      history,
      nextCursor,
      corrections = [],
    } = await throughOwner(app, LOOK, ({ engine }) => engine.readSession({ owner: FIRST_PRINCIPAL, sessionId }));
    if (terminal.json) {
      const more = nextCursor === undefined ? {} : { nextCursor };
      terminal.printJson({ items: history, ...more, ...(corrections.length === 0 ? {} : { corrections }) });
      return EXIT.ok;
    }
    if (history.length === 0) terminal.note("This session has called no tool yet.");
    if (nextCursor !== undefined)
      terminal.note(`The newest ${history.length} entries; --json gives a cursor to those before.`);
    const lines = [
      ...history.map((entry) => ({ at: entry.timestamp, text: describeEntry(terminal, entry) })),
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
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

function describeEntry({ colors: { dim, red } }: CommandContext["terminal"], entry: HistoryEntry): string {
  const { timestamp, toolId, planStepId = "-", request, result } = entry;
  const outcome =
    "output" in result ? describeValue(result.output) : red(`${result.error.code}: ${result.error.message}`);
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
