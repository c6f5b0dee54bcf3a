import fc from "fast-check";
import { expect, it } from "vitest";
import { isErgonError } from "../../src/errors/ergon-error.ts";
import type { Commit, JournalQuery, StateStore } from "../../src/ports/state-store.ts";
import type { OpenStore } from "./opened-store.ts";
import { createModel, type Model } from "./model.ts";
import { AT, core, event, finish, OWNER, start, whole } from "./samples.ts";

/** Random stories, many commits at once among them: after each turn the store answers as the model does. */
export function modelRules(open: OpenStore): void {
  it("answers as the model does, whatever happens", { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 8 }),
        fc.array(query, { maxLength: 6 }),
        async (turns, queries) => {
          const model = createModel();
          const opened = await open();
          let { store } = opened;
          const heard: unknown[] = [];
          store.watch((news) => void heard.push(...news.flatMap(({ events }) => events())));
          for (const { commits, reopens } of turns) {
            const expected = commits.map((given) => {
              const commit = placed(given, model);
              return { commit, outcome: model.commit(commit) };
            });
            const outcomes = await Promise.all(expected.map(({ commit }) => outcomeOf(store.commit(commit))));
            expect(outcomes).toEqual(expected.map(({ outcome }) => outcome));
            expect(heard).toEqual(model.events({}));
            if (reopens && opened.reopen !== undefined) {
              store = await opened.reopen();
              store.watch((news) => void heard.push(...news.flatMap(({ events }) => events())));
            }
          }
          await compare(store, model, queries);
          await store.close();
        },
      ),
      { numRuns: 60 },
    );
  });
}

const SESSIONS = ["s", "t"] as const;
const sessionId = fc.constantFrom(...SESSIONS);
const owner = fc.constantFrom(OWNER, "bob");
const position = fc.constantFrom("1", "1a", "1a1", "1a2", "1b", "2", "3");
const stepId = fc.option(fc.constantFrom("x", "y"), { nil: undefined });
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as never);

const journalWrite = fc
  .tuple(position, stepId, fc.constantFrom("start", "finish", "finish", "whole"), json)
  .map(([at, step, kind, value]) => {
    const ofStep = step === undefined ? {} : { stepId: step };
    if (kind === "start") return start(at, { ...ofStep, request: value });
    return kind === "finish" ? finish(at, { result: { output: value } }) : whole(at, { ...ofStep, request: value });
  });

type Given = Omit<Commit, "expectVersion" | "session"> & {
  readonly fence: number | undefined;
  readonly writes: boolean;
};

const given: fc.Arbitrary<Given> = fc.record({
  sessionId,
  owner,
  writes: fc.boolean(),
  /** How far from the right version it fences; mostly not at all. */
  fence: fc.constantFrom(0, 0, 0, 0, 0, 1, undefined),
  context: fc.array(
    fc.record({
      scope: fc.constantFrom("", "1", "1a"),
      key: fc.constantFrom("k", "l"),
      value: fc.oneof(
        fc.record({ kind: fc.constant("inline" as const), value: json }),
        fc.record({ kind: fc.constant("output" as const), position }),
      ),
    }),
    { maxLength: 3 },
  ),
  dropScopes: fc.array(fc.constantFrom("", "1", "1a"), { maxLength: 1 }),
  journal: fc.array(journalWrite, { maxLength: 3 }),
  energy: fc.array(
    fc.record({ at: fc.constant(AT), cause: fc.constant("tool" as const), units: fc.integer({ min: -9, max: 9 }) }),
    { maxLength: 2 },
  ),
  events: fc.array(
    json.map((value) => event({ value })),
    { maxLength: 2 },
  ),
  cursor: fc.record({ name: fc.constantFrom("r", "q"), seq: fc.nat(9) }),
  durable: fc.boolean(),
});

const turn = fc.record({
  commits: fc.array(given, { minLength: 1, maxLength: 5 }),
  reopens: fc.constantFrom(false, false, true),
});

const query = fc.record(
  {
    sessionId,
    order: fc.constantFrom("newest" as const, "oldest" as const),
    limit: fc.integer({ min: 1, max: 8 }),
    ranges: fc.uniqueArray(position, { maxLength: 4 }).map((positions) => {
      const sorted = positions.sort();
      return sorted.flatMap((from, n) => (n % 2 === 1 ? [] : [{ from, to: sorted[n + 1] ?? "9" }]));
    }),
    stepId: fc.constantFrom("x", "y"),
    settledOnly: fc.boolean(),
    offset: fc.nat(5),
  },
  { requiredKeys: ["sessionId", "order", "limit"] },
);

function placed({ fence, writes, ...rest }: Given, model: Model): Commit {
  const version = model.version(rest.sessionId) + (fence ?? 0);
  if (writes) return { ...rest, expectVersion: version, session: { core: core(rest.sessionId), cursor: null } };
  return fence === undefined ? rest : { ...rest, expectVersion: version };
}

async function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    return await promise;
  } catch (thrown) {
    if (!isErgonError(thrown)) throw thrown;
    return { code: thrown.code };
  }
}

async function compare(store: StateStore, model: Model, queries: readonly JournalQuery[]): Promise<void> {
  for (const asked of queries) expect(await store.readJournal(asked)).toEqual(model.journal(asked));
  for (const id of SESSIONS) {
    expect((await store.readSession(id))?.version ?? 0).toBe(model.version(id));
    expect((await store.readScopes({ sessionId: id, scopePrefix: "", limit: 100 })).items).toEqual(model.context(id));
    expect(await store.readJournal({ sessionId: id, order: "oldest", limit: 100 })).toEqual(
      model.journal({ sessionId: id, order: "oldest", limit: 100 }),
    );
    expect(await store.readEvents({ sessionId: id, afterSeq: 1, limit: 100 })).toEqual(
      model.events({ sessionId: id, seq: 1 }),
    );
    expect(await store.readEnergy({ sessionId: id })).toEqual(model.energy({ sessionId: id }));
    expect(await store.readEnergy({ sessionId: id, owner: "bob" })).toEqual(
      model.energy({ sessionId: id, owner: "bob" }),
    );
  }
  expect(await store.readEvents({ afterSeq: 0, owner: "bob", limit: 100 })).toEqual(model.events({ owner: "bob" }));
  expect(await store.readEnergy({})).toEqual(model.energy({}));
  expect(await store.readCursor("r")).toBe(model.cursor("r"));
  const listed = await store.listSessions({ order: "oldest", limit: 10 });
  expect(listed.items.map((record) => record.core.sessionId)).toEqual(model.sessionIds());
}
