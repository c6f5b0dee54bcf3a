import type { TailEvent } from "./tail.ts";
import type { WriteStatements } from "./write-statements.ts";

/** So many events share a row of the table, and no more text than this unless one alone is longer. */
export const MAX_EVENTS_PER_ROW = 128;
export const MAX_EVENT_CHARS_PER_ROW = 32 * 1024;

/** One event inside its row: whose it is comes before the event's own JSON. */
export type EventEntry = readonly [sessionN: number, owner: string, event: unknown];

export function foldEvents(statements: WriteStatements, events: readonly TailEvent[]): void {
  let from = 0;
  let chars = 0;
  for (const [at, { text }] of events.entries()) {
    if (at > from && (at - from >= MAX_EVENTS_PER_ROW || chars + text.length > MAX_EVENT_CHARS_PER_ROW)) {
      addRow(statements, events.slice(from, at));
      from = at;
      chars = 0;
    }
    chars += text.length;
  }
  if (from < events.length) addRow(statements, events.slice(from));
}

function addRow(statements: WriteStatements, events: readonly TailEvent[]): void {
  const [first] = events;
  const last = events.at(-1);
  if (first === undefined || last === undefined) return;
  const sessions = new Set<number>();
  let common: string | null = first.owner;
  let entries = "";
  let owner = "";
  let quoted = "";
  for (const event of events) {
    const n = event.session?.base.n ?? 0;
    if (event.owner !== owner) {
      owner = event.owner;
      quoted = JSON.stringify(owner);
    }
    if (owner !== common) common = null;
    if (n > 0) sessions.add(n);
    entries += `${entries === "" ? "[" : ","}[${String(n)},${quoted},${event.text}]`;
  }
  statements.addEvents.run(last.seq, common, `${entries}]`);
  for (const n of sessions) statements.addSessionEvents.run(n, last.seq);
}
