import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SessionView } from "@ergon/core/engine";
import { FIRST_PRINCIPAL, openSqliteStateStore } from "@ergon/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { longRuns } from "../../packages/core/testing/long-runs.ts";
import { temporaryFolder } from "./ergon.ts";
import { readAllEvents, readWholeJournal, type Story, storyOf } from "./kill/evidence.ts";
import { createOwners, type Owners } from "./kill/owners.ts";
import { createPeople, type Tally } from "./kill/people.ts";
import { scriptOf } from "./kill/scripts.ts";
import { createRandom } from "./store-crash/random.ts";
import { type Attempt, readAttempts, readBookings, readSent, type Sent, sessionOf, WORK } from "./work-log.ts";

const KILLS = longRuns(50);
const SESSIONS_AT_ONCE = 50;
const SCRIPTS = 12;
/** One in so many starts as people start it, the others have their code loaded already. */
const COLD_EVERY = 10;
/** One in so many dies while it starts. */
const EARLY_EVERY = 8;
const EARLY_MS = { cold: 800, warm: 200 } as const;
const MIN_LIFE_MS = 5;
const MAX_LIFE_MS = 300;
/** On a machine so slow that no kill has met a call that cannot be repeated, lives grow by one in so many kills. */
const LONGER_EVERY = 10;

let folder: ReturnType<typeof temporaryFolder>;
const opened: Owners[] = [];
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(async () => {
  await Promise.all(opened.map((owners) => owners.close()));
  folder.remove();
});

describe(`${String(SESSIONS_AT_ONCE)} sessions whose process is ended by SIGKILL ${String(KILLS)} times`, () => {
  it(
    "all come to what they would have come to, and nothing that was done is done again",
    { timeout: 120_000 + KILLS * 2_000 },
    async () => {
      const expected = await runUndisturbed();
      const disturbed = await runDisturbed();
      expectSameStories(disturbed, expected);
      expectNothingRepeated(disturbed);
      expectKeysToHold(disturbed);
      expectOnceToBeOnce(disturbed);
      // The kills must fall where something happens, or they show nothing.
      const { attempts, sessions, people } = disturbed;
      expect(attempts.length, "calls that a kill cut off").toBeGreaterThan(
        new Set(attempts.map(({ key }) => key)).size,
      );
      expect(people.happened + people.retried, "outcomes that nobody knew").toBeGreaterThan(0);
      expect(sessions.length).toBeGreaterThanOrEqual(SESSIONS_AT_ONCE);
    },
  );
});

type Ended = {
  readonly sessions: readonly { readonly id: string; readonly script: number; readonly view: SessionView }[];
  readonly rows: readonly Row[];
  /** `session position` of every step-finished. */
  readonly finishes: readonly string[];
  readonly ends: readonly string[];
  readonly attempts: readonly Attempt[];
  readonly sent: readonly Sent[];
  readonly bookings: readonly string[];
  readonly people: Tally;
};

type Row = { readonly key: string; readonly toolId: string; readonly state: string; readonly finishedAt: string };

async function runUndisturbed(): Promise<ReadonlyMap<number, Story>> {
  const { owners, log, people } = await open("calm");
  await owners.begin("warm");
  await Promise.all(numbers(SCRIPTS).map((n) => people.see(`ses_calm_${String(n)}`, scriptOf(n))));
  const engine = await owners.engine();
  const stories = await Promise.all(
    numbers(SCRIPTS).map(async (n) => {
      const view = await engine.readSession({ owner: FIRST_PRINCIPAL, sessionId: `ses_calm_${String(n)}` });
      return [n, storyOf(view)] as const;
    }),
  );
  expect(await owners.end("SIGTERM"), owners.said()).toBe(0);
  const keys = readAttempts(log).filter(({ tool }) => tool !== "flaky");
  expect(keys).toHaveLength(new Set(keys.map(({ key }) => key)).size);
  return new Map(stories);
}

async function runDisturbed(): Promise<Ended> {
  const { owners, data, log, people } = await open("killed");
  const random = createRandom(KILLS);
  const started: { readonly id: string; readonly script: number }[] = [];
  let killed = false;
  let broken: Error | undefined;
  const lanes = Promise.all(
    numbers(SESSIONS_AT_ONCE).map(async () => {
      while (!killed && broken === undefined) {
        const n = started.length;
        const session = { id: `ses_kill_${String(n)}`, script: n % SCRIPTS };
        started.push(session);
        await people.see(session.id, scriptOf(session.script));
      }
    }),
  ).catch((thrown: unknown) => {
    broken = thrown instanceof Error ? thrown : new Error("A session could not be seen to its end.", { cause: thrown });
  });
  for (let kills = 0; kills < KILLS && broken === undefined; kills += 1) {
    const start = kills % COLD_EVERY === COLD_EVERY - 1 ? "cold" : "warm";
    await owners.begin(start);
    if (random.below(EARLY_EVERY) === 0) {
      await sleep(random.below(EARLY_MS[start]));
    } else {
      expect(await owners.ready(), owners.said()).toBe(true);
      const longer = people.tally.happened + people.tally.retried > 0 ? 1 : 1 + kills / LONGER_EVERY;
      await sleep((MIN_LIFE_MS + random.below(MAX_LIFE_MS - MIN_LIFE_MS + 1)) * longer);
    }
    await owners.end("SIGKILL");
  }
  killed = true;
  await owners.begin("warm");
  await lanes;
  if (broken !== undefined) throw new Error(`${broken.message}\n${owners.said()}`, { cause: broken });
  const engine = await owners.engine();
  const sessions = await Promise.all(
    started.map(async ({ id, script }) => {
      const view = await engine.readSession({ owner: FIRST_PRINCIPAL, sessionId: id });
      return { id, script, view };
    }),
  );
  expect(await owners.end("SIGTERM"), owners.said()).toBe(0);
  const logs = { attempts: readAttempts(log), sent: readSent(log), bookings: readBookings(log) };
  return { sessions, ...logs, ...(await readStore(data, started)), people: people.tally };
}

async function open(name: string) {
  const data = join(folder.path, name, "data");
  const log = join(folder.path, name, "log");
  mkdirSync(log, { recursive: true });
  const owners = createOwners({
    data,
    capabilities: WORK,
    env: { WORK_LOG: log, NODE_COMPILE_CACHE: join(folder.path, "compiled") },
  });
  opened.push(owners);
  const people = createPeople(owners, (sessionId, label) =>
    readSent(log).some((sent) => sessionOf(sent.key) === sessionId && sent.label === label),
  );
  return { owners, data, log, people };
}

async function readStore(
  data: string,
  sessions: readonly { readonly id: string }[],
): Promise<Pick<Ended, "rows" | "finishes" | "ends">> {
  const store = openSqliteStateStore({ path: join(data, "state.db") });
  try {
    expect(await store.verify()).toEqual([]);
    const rows: Row[] = [];
    for (const { id } of sessions) {
      for (const { key, toolId, state, finishedAt = "" } of await readWholeJournal(store, id))
        rows.push({ key, toolId, state, finishedAt });
    }
    const events = await readAllEvents(store);
    const ofType = (wanted: string) => events.filter(({ type }) => type === wanted);
    return {
      rows,
      finishes: ofType("step-finished").map(
        ({ sessionId, data: { position } }) => `${sessionId ?? ""} ${JSON.stringify(position)}`,
      ),
      ends: ofType("session-completed").map(({ sessionId }) => sessionId ?? ""),
    };
  } finally {
    await store.close();
  }
}

function expectSameStories({ sessions, ends }: Ended, expected: ReadonlyMap<number, Story>): void {
  for (const { id, script, view } of sessions) {
    expect(view.core.status, id).toBe("completed");
    expect(storyOf(view), id).toEqual(expected.get(script));
  }
  expect([...ends].sort(), "each session completed, once").toEqual(sessions.map(({ id }) => id).sort());
}

function expectNothingRepeated({ rows, attempts, finishes }: Ended): void {
  expect(finishes, "a step finished twice").toHaveLength(new Set(finishes).size);
  const finishedAt = new Map(rows.map((row) => [row.key, row.finishedAt]));
  const late = attempts.filter(({ key, at }) => at > (finishedAt.get(key) ?? ""));
  expect(late, "calls of a step that had finished, or that no journal knows").toEqual([]);
  expect(rows.filter(({ state }) => state === "started")).toEqual([]);
  const called = new Set(attempts.map(({ key }) => key));
  const uncalled = rows.filter(({ key, state }) => state === "finished" && !called.has(key));
  expect(uncalled, "steps that finished without a call").toEqual([]);
}

/** A visit has one key however often it is tried, and under each key something was done once. */
function expectKeysToHold({ rows, bookings }: Ended): void {
  const finished = rows.filter(({ toolId }) => toolId === "work::book" || toolId === "work::flaky");
  expect(new Set(finished.map(({ state }) => state))).toEqual(new Set(["finished"]));
  expect([...bookings].sort()).toEqual(finished.map(({ key }) => key).sort());
}

function expectOnceToBeOnce({ rows, attempts, sent }: Ended): void {
  const tried = attempts.filter(({ tool }) => tool === "send").map(({ key }) => key);
  expect(tried, "a key was tried twice").toHaveLength(new Set(tried).size);
  const letters = sent.map(({ key, label }) => `${sessionOf(key)} ${label}`);
  expect(letters, "a letter was sent twice").toHaveLength(new Set(letters).size);
  const finished = rows.filter(({ toolId, state }) => toolId === "work::send" && state === "finished");
  expect(sent.map(({ key }) => key).sort(), "what was sent, and what the journal says was").toEqual(
    finished.map(({ key }) => key).sort(),
  );
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n);
}
