import { describe, expect, it } from "vitest";
import { MAX_PAGE_ROWS, type ContextWrite, type StateStore } from "../../src/ports/state-store.ts";
import type { Json } from "../../src/schema/json.ts";
import type { OpenStore } from "./opened-store.ts";
import { AT, core, creation, event, expectRefused, finish, OWNER, PLAN, start, update, whole } from "./samples.ts";

/** Text that has broken stores before: NUL, quotes, wildcards, case, other planes, combining marks, length. */
const ODD_TEXTS = [
  "",
  "a\0b",
  "a\0c",
  "'; DROP TABLE sessions; --",
  "%_",
  "Ä",
  "ä",
  "a\u0308",
  "\uffff",
  "🜂🜃",
  "\n",
  "x".repeat(2_000),
];

export function readRules(open: OpenStore): void {
  describe("sessions", () => {
    it("are read as they were written", async () => {
      const { store } = await open();
      expect(await store.readSession("s")).toBeUndefined();
      await store.commit(
        creation("s", {
          session: { core: core("s"), frames: { at: 1 }, planHash: "h", input: null },
          plan: { hash: "h", plan: PLAN },
        }),
      );
      expect(await store.readSession("s")).toEqual({
        core: core("s"),
        frames: { at: 1 },
        planHash: "h",
        input: null,
        owner: OWNER,
        version: 1,
      });
      expect(await store.readPlan("h")).toEqual(PLAN);
    });

    it("keep owner, plan and input when a later write leaves them out", async () => {
      const { store } = await open();
      await store.commit(creation("s", { session: { core: core("s"), frames: null, planHash: "h", input: { a: 1 } } }));
      const later = { core: core("s", "completed"), frames: null };
      await store.commit({ sessionId: "s", owner: "bob", expectVersion: 1, session: later });
      expect(await store.readSession("s")).toEqual({
        ...later,
        planHash: "h",
        input: { a: 1 },
        owner: OWNER,
        version: 2,
      });
      await store.commit(update("s", 2, { session: { ...later, planHash: "i", input: 2 } }));
      expect(await store.readSession("s")).toMatchObject({ planHash: "i", input: 2 });
    });

    it("keep their plan's first text", async () => {
      const { store } = await open();
      await store.commit(creation("s", { plan: { hash: "h", plan: PLAN } }));
      await store.commit(update("s", 1, { plan: { hash: "h", plan: { ...PLAN, description: "other" } } }));
      expect(await store.readPlan("h")).toEqual(PLAN);
    });

    it("are listed by creation, by owner and by status, a page at a time", async () => {
      const { store } = await open();
      const ids = Array.from({ length: 7 }, (_, n) => `s${String(n)}`);
      for (const [n, id] of ids.entries()) await store.commit(creation(id, { owner: n % 2 === 0 ? OWNER : "bob" }));
      await store.commit(update("s2", 1, { session: { core: core("s2", "completed"), frames: null } }));
      await store.commit(update("s4", 1, { session: { core: core("s4", "failed"), frames: null } }));
      await store.commit(update("s4", 2, { session: { core: core("s4", "running"), frames: null } }));
      expect(await listed(store, { limit: 3 })).toEqual([["s6", "s5", "s4"], ["s3", "s2", "s1"], ["s0"]]);
      expect(await listed(store, { limit: 7, order: "oldest" })).toEqual([ids]);
      expect(await listed(store, { limit: 2, owner: OWNER })).toEqual([
        ["s6", "s4"],
        ["s2", "s0"],
      ]);
      expect(await listed(store, { limit: 9, status: ["completed", "failed"] })).toEqual([["s2"]]);
      expect(await listed(store, { limit: 2, status: ["running"], order: "oldest", owner: OWNER })).toEqual([
        ["s0", "s4"],
        ["s6"],
      ]);
      expect(await listed(store, { limit: 2, status: [] })).toEqual([[]]);
      expect(await listed(store, { limit: 2, owner: "eve" })).toEqual([[]]);
    });

    it("move to no other page while one pages through them", async () => {
      const { store } = await open();
      for (const id of ["a", "b", "c", "d"]) await store.commit(creation(id));
      const first = await store.listSessions({ limit: 2 });
      await store.commit(creation("e"));
      await store.commit(update("a", 1));
      const second = await store.listSessions({
        limit: 2,
        ...(first.nextCursor === undefined ? {} : { cursor: first.nextCursor }),
      });
      expect([...first.items, ...second.items].map((record) => record.core.sessionId)).toEqual(["d", "c", "b", "a"]);
    });

    it("refuse a cursor or a limit that makes no sense", async () => {
      const { store } = await open();
      for (const cursor of ["", "x", "-1", "1e3", "9".repeat(40)])
        await expectRefused(store.listSessions({ cursor, limit: 1 }), "input_invalid");
      for (const limit of [0, -1, 1.5, Number.NaN]) await expectRefused(store.listSessions({ limit }), "input_invalid");
      await expectRefused(
        store.readScopes({ sessionId: "s", scopePrefix: "", cursor: "{}", limit: 1 }),
        "input_invalid",
      );
      await expectRefused(store.readEvents({ afterSeq: -1, limit: 1 }), "input_invalid");
    });
  });

  describe("context", () => {
    it("holds the last value of each key in each scope", async () => {
      const { store } = await open();
      const rows: ContextWrite[] = [
        { scope: "", key: "a", value: { kind: "inline", value: { deep: [1, null] } } },
        { scope: "1a", key: "a", implicit: true, value: { kind: "output", ord: "1a1" } },
        { scope: "1a", key: "b", value: { kind: "inline", value: null } },
      ];
      await store.commit(creation("s", { context: rows }));
      await store.commit(update("s", 1, { context: [{ scope: "", key: "b", value: { kind: "inline", value: 2 } }] }));
      await store.commit(update("s", 2, { context: [{ scope: "", key: "b", value: { kind: "output", ord: "x" } }] }));
      expect(await store.readContext("s", ["1a"])).toEqual(rows.slice(1));
      expect(await store.readContext("s", ["", "nowhere", "", "1a"])).toEqual([
        rows[0],
        { scope: "", key: "b", value: { kind: "output", ord: "x" } },
        ...rows.slice(1),
      ]);
      expect(await store.readContext("t", [""])).toEqual([]);
    });

    it("loses the scopes inside a dropped one, before new rows are written", async () => {
      const { store } = await open();
      const scopes = ["", "1", "1a", "1a\0", "1a~", "1a\u{10ffff}", "1b", "2"];
      const context = scopes.map((scope) => inline(scope, "k", scope));
      await store.commit(creation("s", { context }));
      await store.commit(creation("t", { context }));
      await store.commit(update("s", 1, { dropScopes: ["1a", "nowhere"], context: [inline("1az", "k", 1)] }));
      expect(await scoped(store, "", 100)).toEqual([
        ...context.slice(0, 3),
        inline("1az", "k", 1),
        ...context.slice(6),
      ]);
      await store.commit(update("s", 2, { dropScopes: [""] }));
      expect(await scoped(store, "", 100)).toEqual(context.slice(0, 1));
      expect((await store.readScopes({ sessionId: "t", scopePrefix: "", limit: 100 })).items).toEqual(context);
    });

    it("is paged through by a scope's prefix", async () => {
      const { store } = await open();
      const scopes = ["", "1", "1a", "1a\uffff", "1a🜂", "1b", "2"];
      const context = scopes.flatMap((scope) => ["k", "l", "m"].map((key) => inline(scope, key, scope)));
      await store.commit(creation("s", { context: context.toReversed() }));
      await store.commit(creation("t", { context }));
      for (const limit of [1, 2, 3, 4, 100]) {
        expect(await scoped(store, "1a", limit)).toEqual(context.filter(({ scope }) => scope.startsWith("1a")));
        expect(await scoped(store, "", limit)).toEqual(context);
        expect(await scoped(store, "3", limit)).toEqual([]);
      }
    });
  });

  describe("the journal", () => {
    it("reads rows as they were written, with and without a result", async () => {
      const { store } = await open();
      await store.commit(
        creation("s", { journal: [start("a", { stepId: "greet" }), whole("b", { effects: "pure" })] }),
      );
      expect(await store.readJournalRow("s", "a")).toEqual({
        ord: "a",
        scope: "",
        stepId: "greet",
        toolId: "demo::greet",
        effects: "once",
        key: "key-a",
        argsHash: "00",
        request: { who: "a" },
        startedAt: AT,
        state: "started",
        energyUnits: 0,
      });
      const failure = { error: { code: "tool_failed", message: "no", retryable: false } };
      await store.commit(
        update("s", 1, { journal: [finish("a", { state: "failed", result: failure, at: "later", energyUnits: 2.5 })] }),
      );
      expect(await store.readJournalRow("s", "a")).toMatchObject({
        state: "failed",
        result: failure,
        finishedAt: "later",
        energyUnits: 2.5,
      });
      expect(await store.readJournalRow("s", "b")).toMatchObject({
        state: "finished",
        effects: "pure",
        startedAt: AT,
        finishedAt: AT,
      });
      expect(await store.readJournalRow("s", "c")).toBeUndefined();
      expect(await store.readJournalRow("t", "a")).toBeUndefined();
    });

    it("answers ranges, steps, offsets and limits, newest or oldest first", async () => {
      const { store } = await open();
      const ords = ["1a", "1b1", "1b2", "1b3", "1c", "2a", "2b"];
      const step = (n: number) => (n % 2 === 0 ? { stepId: "even" } : {});
      await store.commit(
        creation("s", { journal: ords.toReversed().map((ord) => whole(ord, step(ords.indexOf(ord)))) }),
      );
      await store.commit(update("s", 1, { journal: [start("2c", { stepId: "even" })] }));
      const read = async (query: object) =>
        (await store.readJournal({ sessionId: "s", order: "oldest", limit: 100, ...query })).map(({ ord }) => ord);
      expect(await read({})).toEqual([...ords, "2c"]);
      expect(await read({ order: "newest", settledOnly: true })).toEqual(ords.toReversed());
      expect(await read({ order: "newest", limit: 2, offset: 1 })).toEqual(["2b", "2a"]);
      expect(await read({ ranges: [{ from: "1b", to: "1c" }] })).toEqual(["1b1", "1b2", "1b3"]);
      expect(await read({ ranges: [] })).toEqual([]);
      const ranges = [
        { from: "1a", to: "1b2" },
        { from: "1b3", to: "1b4" },
        { from: "3", to: "4" },
        { from: "2a", to: "2d" },
      ];
      ranges.sort((a, b) => (a.from < b.from ? -1 : 1));
      const inRanges = ["1a", "1b1", "1b3", "2a", "2b", "2c"];
      for (let offset = 0; offset <= 7; offset += 1) {
        for (const limit of [1, 2, 3, 9]) {
          expect(await read({ ranges, offset, limit })).toEqual(inRanges.slice(offset, offset + limit));
          expect(await read({ ranges, offset, limit, order: "newest" })).toEqual(
            inRanges.toReversed().slice(offset, offset + limit),
          );
        }
      }
      expect(await read({ stepId: "even" })).toEqual(["1a", "1b2", "1c", "2b", "2c"]);
      expect(await read({ stepId: "even", settledOnly: true, order: "newest", offset: 1, limit: 2 })).toEqual([
        "1c",
        "1b2",
      ]);
      expect(await read({ stepId: "even", ranges })).toEqual(["1a", "2b", "2c"]);
      expect(await read({ stepId: "odd" })).toEqual([]);
      expect(await read({ sessionId: "t" })).toEqual([]);
    });

    it("answers with no more rows than a page has", async () => {
      const { store } = await open();
      const journal = Array.from({ length: MAX_PAGE_ROWS + 1 }, (_, n) => whole(String(n).padStart(6, "0")));
      await store.commit(creation("s", { journal, events: journal.map(() => event()) }));
      expect(await store.readJournal({ sessionId: "s", order: "oldest", limit: MAX_PAGE_ROWS + 1 })).toHaveLength(
        MAX_PAGE_ROWS,
      );
      expect(await store.readEvents({ afterSeq: 0, limit: MAX_PAGE_ROWS + 1 })).toHaveLength(MAX_PAGE_ROWS);
      expect(await store.readEvents({ afterSeq: 1, sessionId: "s", limit: MAX_PAGE_ROWS })).toHaveLength(MAX_PAGE_ROWS);
    });
  });

  describe("events", () => {
    it("are read after a number, by owner and by session", async () => {
      const { store } = await open();
      await store.commit(creation("s", { events: [event({ n: 1 })] }));
      await store.commit(creation("t", { owner: "bob", events: [event({ n: 2 })] }));
      await store.commit(update("s", 1, { events: [event({ n: 3 }), event({ n: 4 })] }));
      const read = async (query: object) =>
        (await store.readEvents({ afterSeq: 0, limit: 10, ...query })).map(({ data }) => data["n"]);
      expect(await read({})).toEqual([1, 2, 3, 4]);
      expect(await read({ afterSeq: 2, limit: 1 })).toEqual([3]);
      expect(await read({ owner: "bob" })).toEqual([2]);
      expect(await read({ sessionId: "s" })).toEqual([1, 3, 4]);
      expect(await read({ sessionId: "s", afterSeq: 1, limit: 1 })).toEqual([3]);
      expect(await read({ sessionId: "s", owner: "bob" })).toEqual([]);
      expect(await read({ sessionId: "nobody" })).toEqual([]);
      expect(await read({ afterSeq: 4 })).toEqual([]);
      expect(await store.readEvents({ afterSeq: 1, limit: 1 })).toEqual([
        { seq: 2, owner: "bob", sessionId: "t", ...event({ n: 2 }) },
      ]);
    });

    it("of one session are found among many of others", async () => {
      const { store } = await open();
      await store.commit(creation("s", { events: [event({ n: 0 })] }));
      await store.commit(creation("t", { events: Array.from({ length: 1_500 }, () => event()) }));
      await store.commit(update("s", 1, { events: [event({ n: 1 })] }));
      const read = async (afterSeq: number) =>
        (await store.readEvents({ afterSeq, sessionId: "s", limit: 10 })).map(({ seq }) => seq);
      expect(await read(0)).toEqual([1, 1_502]);
      expect(await read(1)).toEqual([1_502]);
      expect(await read(1_502)).toEqual([]);
    });

    it("reach watchers once, after their commit, in order; one that throws disturbs nobody", async () => {
      const { store } = await open();
      const heard: unknown[] = [];
      const stopThrowing = store.watch(() => {
        throw new Error("a broken watcher");
      });
      const stop = store.watch((events) => void heard.push(...events));
      await store.commit(creation("s", { events: [event({ n: 1 })] }));
      expect(heard).toEqual([{ seq: 1, owner: OWNER, sessionId: "s", ...event({ n: 1 }) }]);
      await Promise.allSettled([
        store.commit(update("s", 1, { events: [event({ n: 2 })] })),
        store.commit(update("s", 1, { events: [event({ n: 0 })] })),
        store.commit({ sessionId: "", owner: OWNER, events: [event({ n: 3 })] }),
      ]);
      stopThrowing();
      stop();
      await store.commit(update("s", 2, { events: [event({ n: 4 })] }));
      expect(heard.map((heardEvent) => (heardEvent as { data: { n: number } }).data.n)).toEqual([1, 2, 3]);
    });

    it("may be answered by a watcher with a commit", async () => {
      const { store } = await open();
      const answer = new Promise((resolve, reject) => {
        const stop = store.watch((events) => {
          stop();
          store
            .commit({ sessionId: "", owner: OWNER, cursor: { name: "reader", seq: events.at(-1)?.seq ?? 0 } })
            .then(resolve, reject);
        });
      });
      await store.commit(creation("s", { events: [event(), event()] }));
      await answer;
      expect(await store.readCursor("reader")).toBe(2);
    });
  });

  describe("cursors, energy and blob rows", () => {
    it("keep a reader's place", async () => {
      const { store } = await open();
      expect(await store.readCursor("r")).toBe(0);
      await store.commit(creation("s", { cursor: { name: "r", seq: 5 } }));
      await store.commit(update("s", 1, { cursor: { name: "q", seq: 7 } }));
      await store.commit(update("s", 2, { cursor: { name: "r", seq: 6 } }));
      expect([await store.readCursor("r"), await store.readCursor("q")]).toEqual([6, 7]);
    });

    it("add up what was spent, by session and by owner", async () => {
      const { store } = await open();
      const spent = (units: number) =>
        ({ at: AT, cause: "tool", units, toolId: "demo::greet", reference: "a" }) as const;
      await store.commit(creation("s", { energy: [spent(1.5), spent(2)] }));
      await store.commit({ sessionId: "s", owner: "bob", energy: [spent(4)] });
      await store.commit(creation("t", { owner: "bob", energy: [spent(8)] }));
      await store.commit({ sessionId: "", owner: OWNER, energy: [{ at: AT, cause: "replenish", units: -16 }] });
      expect(await store.readEnergy({})).toEqual({ units: -0.5, rows: 5 });
      expect(await store.readEnergy({ sessionId: "s" })).toEqual({ units: 7.5, rows: 3 });
      expect(await store.readEnergy({ owner: "bob" })).toEqual({ units: 12, rows: 2 });
      expect(await store.readEnergy({ sessionId: "s", owner: "bob" })).toEqual({ units: 4, rows: 1 });
      expect(await store.readEnergy({ sessionId: "nobody" })).toEqual({ units: 0, rows: 0 });
    });

    it("know a blob's owners", async () => {
      const { store } = await open();
      const ref = { $blob: "ab".repeat(32), bytes: 7, mediaType: "text/plain" };
      await store.commit(
        creation("s", {
          blobs: [
            { ref, at: AT },
            { ref, at: "later" },
          ],
        }),
      );
      await store.commit(creation("t", { owner: "bob", blobs: [{ ref: { ...ref, mediaType: "text/html" }, at: AT }] }));
      expect(await store.readBlobRow(ref.$blob, OWNER)).toEqual({ ref, at: AT, owner: OWNER });
      expect(await store.readBlobRow(ref.$blob, "bob")).toMatchObject({
        owner: "bob",
        ref: { mediaType: "text/html" },
      });
      expect(await store.readBlobRow(ref.$blob, "eve")).toBeUndefined();
      expect(await store.readBlobRow(ref.$blob)).toMatchObject({ ref: { $blob: ref.$blob } });
      expect(await store.readBlobRow("cd".repeat(32))).toBeUndefined();
    });
  });

  describe("odd text", () => {
    it.each(ODD_TEXTS.map((text, n) => [n, text] as const))(
      "%i comes back as it went in, as key and as value",
      async (_, text) => {
        const { store } = await open();
        const others = ODD_TEXTS.filter((other) => other !== text).map((other) => inline(other, other, other));
        await store.commit(creation("s", { context: [...others, inline(text, text, { [text]: text })], owner: text }));
        expect(await store.readContext("s", [text])).toEqual([inline(text, text, { [text]: text })]);
        expect((await store.readSession("s"))?.owner).toBe(text);
        await store.commit(
          update("s", 1, { journal: [whole(text, { stepId: text, request: text })], cursor: { name: text, seq: 3 } }),
        );
        expect(await store.readJournal({ sessionId: "s", stepId: text, order: "newest", limit: 2 })).toMatchObject([
          { ord: text, request: text },
        ]);
        expect(await store.readCursor(text)).toBe(3);
      },
    );

    it("sorts as its UTF-8 bytes do", async () => {
      const { store } = await open();
      const sorted = [
        "",
        "\0",
        "A",
        "a",
        "a\0",
        "aa",
        "b",
        "~",
        "\u007f",
        "\u0080",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "\u{10000}",
        "\u{10ffff}",
      ];
      await store.commit(creation("s", { journal: sorted.toReversed().map((ord) => whole(ord)) }));
      const rows = await store.readJournal({ sessionId: "s", order: "oldest", limit: 100 });
      expect(rows.map(({ ord }) => ord)).toEqual(sorted);
    });

    it("may hold half a surrogate pair in a value", async () => {
      const { store } = await open();
      await store.commit(creation("s", { context: [inline("", "k", { "\udc00": "\ud800" })] }));
      expect(await store.readContext("s", [""])).toEqual([inline("", "k", { "\udc00": "\ud800" })]);
    });
  });
}

function inline(scope: string, key: string, value: Json): ContextWrite {
  return { scope, key, value: { kind: "inline", value } };
}

async function listed(store: StateStore, query: Parameters<StateStore["listSessions"]>[0]): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await store.listSessions({ ...query, ...(cursor === undefined ? {} : { cursor }) });
    pages.push(page.items.map((record) => record.core.sessionId));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}

async function scoped(store: StateStore, scopePrefix: string, limit: number): Promise<unknown[]> {
  const rows: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.readScopes({
      sessionId: "s",
      scopePrefix,
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    });
    rows.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return rows;
}
