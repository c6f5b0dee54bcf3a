import type { TailEvents } from "./tail.ts";
import type { WriteStatements } from "./write-statements.ts";

/** So many commits' events share a row of the table, and no more text than this unless one alone is longer. */
export const MAX_COMMITS_PER_ROW = 64;
export const MAX_EVENT_CHARS_PER_ROW = 32 * 1024;

/** The events of one commit inside their row, after whose they are; session 0 is none. */
export type EventsEntry = readonly [sessionN: number, owner: string, events: readonly unknown[]];

export function foldEvents(statements: WriteStatements, events: readonly TailEvents[]): void {
  let from = 0;
  let chars = 0;
  for (const [at, { text }] of events.entries()) {
    if (at > from && (at - from >= MAX_COMMITS_PER_ROW || chars + text.length > MAX_EVENT_CHARS_PER_ROW)) {
      addRow(statements, events.slice(from, at));
      from = at;
      chars = 0;
    }
    chars += text.length;
  }
  if (from < events.length) addRow(statements, events.slice(from));
}

function addRow(statements: WriteStatements, commits: readonly TailEvents[]): void {
  const sessions = new Set<number>();
  const owners = new Set<string>();
  let count = 0;
  let seq = 0;
  let entries = "";
  for (const commit of commits) {
    const n = commit.session?.base.n ?? 0;
    if (n > 0) sessions.add(n);
    owners.add(commit.owner);
    count += commit.count;
    seq = commit.seq;
    entries += `${entries === "" ? "[" : ","}[${String(n)},${JSON.stringify(commit.owner)},${commit.text}]`;
  }
  const [first = ""] = owners;
  statements.addEvents.run(seq, count, owners.size === 1 ? first : null, `${entries}]`);
  for (const n of sessions) statements.addSessionEvents.run(n, seq);
}
