import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, describe, expect, it } from "vitest";
import { type ChatModel, silentLogger, ToolRegistry } from "@ergon/core";
import { modelError } from "@ergon/core/schema";
import { type ConversationStore, createHashEmbedder, createIds, createMemoryBlobStore } from "@ergon/core/store-kit";
import { createEngine, createToolGate } from "@ergon/core/engine";
import { createConversationService, type ConversationService } from "@ergon/core/conversation";
import { createSimulatedClock, type SimulatedClock } from "@ergon/core/testing";
import { openOwnedDatabase, openSqliteConversationStore, openSqliteStateStore } from "@ergon/node";
import { createRandom } from "./store-crash/random.ts";

const CONVERSATIONS = process.env["ERGON_LONG"] === "1" ? 2_000 : 40;
const DAY_MS = 24 * 3_600_000;
/** A shorter day for the shorter test, so that conversations meet. */
const SPAN_MS = Math.min(DAY_MS, (DAY_MS * CONVERSATIONS) / 2_000);
const LOOK_EVERY = 10;
/** Ten minutes of a model that is down, and the queue that this leaves. */
const LONGEST_WAIT_MS = 2 * 3_600_000;
const home = mkdtempSync(join(tmpdir(), "ergon-day-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("a day of conversations", { timeout: 1_200_000 }, () => {
  it(`of ${String(CONVERSATIONS)}: none starves, energy stays in its range, memory stays flat`, async () => {
    const clock = createSimulatedClock();
    const { below } = createRandom(20_261_116);
    const random = (): number => below(1_000_000) / 1_000_000;
    const { mind, store, settle, close } = await openConversations(clock, createModel(clock, random));
    const owners = ["ada", "bob", "eve"];
    const ids: { readonly owner: string; readonly id: string }[] = [];
    const heap: number[] = [];
    const startMs = clock.now();
    let longestWaitMs = 0;
    let lowest = 100;
    let highest = -50;
    const look = async (): Promise<void> => {
      const { level } = await mind.conversations.energy();
      lowest = Math.min(lowest, level);
      highest = Math.max(highest, level);
    };

    const arrivals = Array.from({ length: CONVERSATIONS }, () => random() * SPAN_MS).sort((a, b) => a - b);
    for (const [n, atMs] of arrivals.entries()) {
      await runUntil({ clock, settle }, startMs + atMs, look);
      const owner = owners[n % owners.length] ?? "ada";
      const known = ids.filter((one) => one.owner === owner);
      const old = random() < 0.2 ? known[Math.floor(random() * known.length)] : undefined;
      const target = old === undefined ? {} : { conversationId: old.id };
      const message = { owner, content: `Question ${String(n)}`, ...target };
      const posted = await mind.conversations.post(message).catch((thrown: unknown) => {
        expect(thrown).toMatchObject({ code: "conversation_ended" });
        return undefined;
      });
      if (posted !== undefined && old === undefined) ids.push({ owner, id: posted.conversationId });
      for (const { pending, awaitsEnergy } of n % LOOK_EVERY === 0 ? await store.wanting(10_000) : []) {
        if (pending === undefined || awaitsEnergy !== undefined) continue;
        longestWaitMs = Math.max(longestWaitMs, clock.now() - Date.parse(pending.since));
      }
      if (n === Math.floor(CONVERSATIONS / 4) || n === CONVERSATIONS - 1) heap.push(usedHeap());
    }
    // Snoozes end within a day.
    await runUntil({ clock, settle }, startMs + SPAN_MS + DAY_MS + 3_600_000, look);

    const states = new Map<string, number>();
    for (const { owner, id } of ids) {
      const { conversation } = await mind.conversations.read({ owner, id, limit: 1 });
      states.set(conversation.state, (states.get(conversation.state) ?? 0) + 1);
      if (conversation.state === "answered") expect(conversation.answers).toBeGreaterThan(0);
    }
    expect([...states.keys()].filter((state) => !["answered", "ended", "snoozed"].includes(state))).toEqual([]);
    expect(mind.status()).toMatchObject({ waiting: 0, working: 0, degraded: [] });
    expect({ lowest: lowest >= -50, highest: highest <= 100 }).toEqual({ lowest: true, highest: true });
    expect(lowest).toBeLessThan(60);
    expect(longestWaitMs).toBeLessThan(LONGEST_WAIT_MS);
    const [quarter = 0, end = 0] = heap;
    expect(end - quarter).toBeLessThan(20 * 1024 * 1024);
    await close();
  });
});

/** Thinks for up to twelve seconds, is down for a while now and then, and does all that a model may do. */
function createModel(clock: SimulatedClock, random: () => number): ChatModel {
  const call = (tool: string, args: object): string => JSON.stringify({ tool, args });
  return {
    id: "simulated/model",
    generate: async ({ signal }) => {
      await clock.sleep(random() * 12_000, signal);
      if (signal?.aborted === true) throw modelError("cancelled", "stopped");
      if (Math.floor(clock.now() / 600_000) % 20 === 3)
        throw modelError("model_unavailable", "It is down for ten minutes.", { retryable: true });
      const chance = random();
      const text =
        chance < 0.55
          ? call("respond", { content: "Here you are." })
          : chance < 0.7
            ? call("think", { thought: "Hm." })
            : chance < 0.78
              ? call("snooze_conversation", { minutes: 1 + Math.floor(random() * 1_440), reason: "later" })
              : chance < 0.83
                ? call("await_energy", { level: 1 + Math.floor(random() * 100) })
                : chance < 0.88
                  ? call("nonsense", {})
                  : chance < 0.9
                    ? call("end_conversation", { reason: "over" })
                    : "Just words.";
      return { text, model: "simulated/model", usage: { inputTokens: 1, outputTokens: 1 }, truncated: false };
    },
  };
}

async function openConversations(
  clock: SimulatedClock,
  model: ChatModel,
): Promise<{
  readonly mind: ConversationService;
  readonly store: ConversationStore;
  readonly settle: () => Promise<void>;
  readonly close: () => Promise<void>;
}> {
  const database = openOwnedDatabase({ path: join(home, "state.db"), logger: silentLogger });
  const state = openSqliteStateStore({ database, logger: silentLogger });
  const store = openSqliteConversationStore({ database });
  const registry = new ToolRegistry();
  const ids = createIds({ clock });
  const gate = createToolGate({ registry, clock, logger: silentLogger });
  const plans = { get: () => undefined, ids: () => [] };
  const blobs = createMemoryBlobStore();
  const engine = createEngine({ store: state, blobs, gate, registry, plans, clock, ids, logger: silentLogger });
  const mind = await createConversationService({
    store,
    state,
    engine,
    registry,
    models: [model],
    embedder: createHashEmbedder(),
    clock,
    ids,
    logger: silentLogger,
    owner: "ada",
  });
  await mind.start();
  return {
    mind,
    store,
    // A message waits for the disk, which knows nothing of simulated time.
    settle: async () => {
      await new Promise(setImmediate);
      await state.sync();
    },
    close: async () => {
      await mind.stop();
      await engine.close();
      await state.close();
      await store.close();
      await database.close();
    },
  };
}

/** Time goes on only when nothing is left to do at its moment. */
async function runUntil(
  { clock, settle }: { readonly clock: SimulatedClock; readonly settle: () => Promise<void> },
  untilMs: number,
  look: () => Promise<void>,
): Promise<void> {
  let isOver = false;
  clock.after(untilMs - clock.now(), () => (isOver = true));
  for (;;) {
    for (let turn = 0; turn < SETTLING_TURNS; turn += 1) await settle();
    if (isOver) return;
    await look();
    if (!clock.jump()) throw new Error("time stands still");
  }
}

const SETTLING_TURNS = 4;

function usedHeap(): number {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  return process.memoryUsage().heapUsed;
}
