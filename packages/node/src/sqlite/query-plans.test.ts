import type { JournalQuery } from "@ergon/core/store-kit";
import { describe, expect, it } from "vitest";
import { openDatabase } from "./database/open-database.ts";
import { readJournal, readJournalRow } from "./state/read-journal.ts";
import { readRun } from "./state/read-runs.ts";
import { readEvents } from "./state/read-events.ts";
import { listSessions, readContext, readScopes, readSession } from "./state/read-sessions.ts";
import { createReader, type Reader } from "./database/reader.ts";
import { STATE_SCHEMA } from "./database/schema.ts";

// What a step costs must not depend on how much is stored: every read goes by a key or an index, and none sorts.
describe("how SQLite answers", () => {
  const ranges = [{ from: "a", to: "b" }];
  const journal: Omit<JournalQuery, "order" | "limit">[] = [
    { sessionId: "s" },
    { sessionId: "s", ranges },
    { sessionId: "s", ranges, settledOnly: true },
  ];
  it.each(journal.flatMap((query) => (["newest", "oldest"] as const).map((order) => ({ ...query, order, limit: 10 }))))(
    "the journal %j by position",
    (query) => {
      expect(plansOf((reader) => readJournal(reader, 1, query))).toEqual([
        "SEARCH journal USING INDEX journal_by_ord (session_n=? AND ord>? AND ord<?)",
      ]);
    },
  );

  it.each(["newest", "oldest"] as const)("the journal of a step, %s first, by its own index", (order) => {
    const query = { sessionId: "s", stepId: "x", ranges, order, limit: 10 };
    expect(plansOf((reader) => readJournal(reader, 1, query))).toEqual([
      "SEARCH journal USING INDEX journal_by_step (session_n=? AND step_id=? AND ord>? AND ord<?)",
    ]);
  });

  it.each([
    ["a journal row", (reader: Reader) => readJournalRow(reader, 1, "a")],
    ["a run", (reader: Reader) => readRun(reader, { owner: "ada", id: "r" })],
    ["a session", (reader: Reader) => readSession(reader, "s")],
    ["a scope", (reader: Reader) => readContext(reader, 1, [""])],
    ["scopes", (reader: Reader) => readScopes(reader, 1, { scopePrefix: "a", limit: 10 })],
    ["more scopes", (reader: Reader) => readScopes(reader, 1, { scopePrefix: "a", cursor: '["a","b"]', limit: 10 })],
    ["sessions of an owner", (reader: Reader) => listSessions(reader, { owner: "ada", cursor: "9", limit: 10 })],
    [
      "sessions of a status",
      (reader: Reader) => listSessions(reader, { status: ["running"], order: "oldest", limit: 10 }),
    ],
    ["events", (reader: Reader) => readEvents(reader, undefined, { afterSeq: 0, limit: 10, lastSeq: 9 })],
    [
      "events of an owner",
      (reader: Reader) => readEvents(reader, undefined, { afterSeq: 0, owner: "ada", limit: 10, lastSeq: 9 }),
    ],
    [
      "events of a session",
      (reader: Reader) => readEvents(reader, 1, { afterSeq: 0, sessionId: "s", limit: 10, lastSeq: 9 }),
    ],
  ])("%s without a scan or a sort", (_, read) => {
    const plans = plansOf(read);
    expect(plans.length).toBeGreaterThan(0);
    expect(plans.filter((step) => !step.startsWith("SEARCH"))).toEqual([]);
  });
});

function plansOf(read: (reader: Reader) => unknown): string[] {
  const db = openDatabase({ path: ":memory:", schema: STATE_SCHEMA });
  const plans: string[] = [];
  const reader = createReader(db);
  const explaining: Reader = {
    all: (sql, ...values) => {
      const steps = reader.all<{ readonly detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values);
      plans.push(...steps.map(({ detail }) => detail));
      return [];
    },
  };
  void read(explaining);
  db.close();
  return plans;
}
