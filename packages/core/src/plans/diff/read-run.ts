import { MAX_PAGE_ROWS, type JournalRow, type SessionRecord, type StateStore } from "../../ports/state-store.ts";
import type { SessionContext } from "../../schema/session.ts";
import { afterPrefix, encodePart } from "../position.ts";
import { visitNames } from "../visit-name.ts";
import type { ComparedRun } from "./diff-runs.ts";

/** Calls of one run that a comparison reads. */
export const MAX_COMPARED_CALLS = 10_000;

/** The calls of a session's latest run, with names that two runs of one plan share. */
export async function readRun(store: StateStore, record: SessionRecord, context: SessionContext): Promise<ComparedRun> {
  const { core, planHash } = record;
  const plan = planHash === undefined ? undefined : await store.readPlan(planHash);
  const names = plan === undefined ? undefined : visitNames({ plan });
  const rows: JournalRow[] = [];
  const prefix = encodePart(core.run);
  const to = afterPrefix(prefix);
  for (let from = prefix; rows.length <= MAX_COMPARED_CALLS;) {
    const ranges = core.run === 0 ? [{ from: from === prefix ? "" : from, to: "~" }] : [{ from, to }];
    const page = await store.readJournal({ sessionId: core.sessionId, ranges, order: "oldest", limit: MAX_PAGE_ROWS });
    rows.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < MAX_PAGE_ROWS) break;
    from = `${last.position}\u0000`;
  }
  const nameOf = ({ stepId, position, toolId }: JournalRow): string =>
    stepId === undefined ? toolId : (names?.(stepId, position) ?? stepId);
  return {
    core,
    context,
    calls: rows.slice(0, MAX_COMPARED_CALLS).map((row) => ({ name: nameOf(row), row })),
    isCut: rows.length > MAX_COMPARED_CALLS,
  };
}
