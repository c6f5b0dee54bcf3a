/*
 * Spec 5's sensitive loop: decides which conversation gets effort now, and spends energy on it. What a step is, it leaves
 * to take-step; what is written and charged, to the pool; tools to the engine.
 *
 * L1  A cycle does not wait: it drains the sub-agent, begins steps, and rests. Steps run beside it, a few at once, one for
 *     each conversation at most.
 * L2  It wakes at once when a message comes, a step ends, or the sub-agent has news; else when something is due.
 * L3  Everything that it decides by is in the store; a process that dies leaves nothing that the next one does not find.
 * L4  A step begins only when the pool covers what it is expected to cost.
 * L5  The sub-agent works only while the loop runs, and pauses while energy is critical.
 */
import { type ErgonError, isErgonError, toErgonError } from "../../errors/ergon-error.ts";
import { isoTime } from "../../ports/clock.ts";
import type { ConversationStore } from "../../ports/conversation-store.ts";
import type { Logger } from "../../ports/logger.ts";
import type { StateStore } from "../../ports/state-store.ts";
import type { ConversationRecord, ConversationsStatus } from "../../schema/conversation.ts";
import type { SubAgent } from "../../hub/sub-agent.ts";
import { createCycleTimes } from "./cycle-times.ts";
import { createLiveConversations, type Live } from "./live-conversations.ts";
import { createIdleReview } from "./idle-review.ts";
import { createNotices } from "../sub-agent/notices.ts";
import { answered, woken } from "../step/progress.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import { createSubAgentLead, type LoopEnergy } from "../sub-agent/sub-agent-lead.ts";
import { expectedUnits, type StepDeps, type Stepped, takeStep } from "../step/take-step.ts";
import { createEventForwarder, type EventForwarder } from "../event-forwarder.ts";

/** Steps under way at once. */
export const MAX_ACTIVE_STEPS = 4;
const MAX_WANTING = 10_000;
/** Even with nothing due it looks this often. */
const MAX_REST_MS = 60_000;
const SUB_AGENT_POLL_MS = 1_000;
/** A conversation whose step fails for reasons of our own is tried this often, then told. */
const MAX_TROUBLES = 5;
const TROUBLE_PAUSE_MS = 2_000;
const OTHERS_SHOWN = 5;

export type SensitiveLoopDeps = StepDeps & {
  readonly conversations: ConversationStore;
  readonly state: Pick<StateStore, "commit" | "readCursor" | "watch">;
  readonly forwarder?: EventForwarder;
  readonly logger: Logger;
  /** Whose the pool's own rows are. */
  readonly owner: string;
  readonly subAgent?: SubAgent;
  readonly energy?: LoopEnergy;
  /** Whether servers may be searched unasked where no tool fits; never without it. */
  readonly mayDiscover?: () => boolean;
  /** After so long with nothing to do, answered conversations are looked at again; 0 for never. */
  readonly reviewEveryMs?: number;
  /** Conversations that may want something at once; a message for one more is refused. */
  readonly maxWanting?: number;
};

export type SensitiveLoop = {
  /** Takes up what is owed and goes on until `stop`. */
  readonly start: () => Promise<void>;
  /** Begins nothing more; steps under way are left where they stand, and the next process finds them. */
  readonly stop: () => Promise<void>;
  /** A conversation was written by somebody else: a message came, a person ended it. */
  readonly notice: (record: ConversationRecord) => void;
  /** Resolves once what happened so far has been told, or cannot be. */
  readonly told: () => Promise<void>;
  readonly isFull: () => boolean;
  readonly stateOf: (record: ConversationRecord) => ReturnType<Readiness["stateOf"]>;
  readonly status: () => ConversationsStatus;
  /** Told after each change that anybody made. */
  readonly onChange: (listener: (record: ConversationRecord) => void) => () => void;
};

export function createSensitiveLoop(deps: SensitiveLoopDeps): SensitiveLoop {
  const { conversations, pool, shelf, health, clock, logger, subAgent } = deps;
  const { maxWanting = MAX_WANTING } = deps;
  const forwarder = deps.forwarder ?? createEventForwarder(deps);
  const live = createLiveConversations(clock);
  const steps = new Set<Promise<void>>();
  const listeners = new Set<(record: ConversationRecord) => void>();
  const stopping = new AbortController();
  const times = createCycleTimes();
  const { signal: stopped } = stopping;
  const notices = createNotices({ ...deps, signal: stopped, onNoted, onTrouble: notTold });
  const { energy, mayDiscover } = deps;
  const lead = createSubAgentLead({ ...deps, subAgent, energy, mayDiscover, onFinding: notices.found });
  const readiness = createReadiness({
    ...deps,
    expected: (record, level) => expectedUnits(deps, record, level),
    isRunning: () => isRunning,
  });
  const review = createIdleReview(deps, { everyMs: deps.reviewEveryMs ?? 0, onTakenUp: notice });
  let stopResting: () => void = () => undefined;
  let wokenAtMs: number | undefined;
  let isRunning = false;
  let untold: string | undefined;
  let cycles: Promise<void> | undefined;
  let unwatch: readonly (() => void)[] = [];

  return {
    start: async () => {
      for (const record of await conversations.wanting(maxWanting)) live.put(record);
      await tell();
      unwatch = [
        deps.state.watch((news) => {
          for (const { sessionId, types, events } of news) {
            if (sessionId !== undefined && types.some((type) => FREES.has(type))) freed(sessionId);
            if (!types.includes("server-changed")) continue;
            for (const { type, data } of events()) if (type === "server-changed") notices.server(data);
          }
        }),
        ...(subAgent === undefined ? [] : [subAgent.onNews(() => wakeUp())]),
      ];
      isRunning = true;
      subAgent?.start();
      cycles = run();
    },
    stop: async () => {
      if (cycles === undefined) return;
      isRunning = false;
      for (const stop of unwatch) stop();
      stopping.abort();
      for (const { active } of live.all()) active?.abort();
      wakeUp();
      await Promise.all([cycles, subAgent?.stop(), notices.settled(), ...steps]);
      lead.drain();
      await pool.flush("now");
      await tell();
    },
    notice,
    told: tell,
    isFull: () => live.size() >= maxWanting,
    stateOf: (record) => readiness.stateOf(record, live.get(record.id)),
    status: () => {
      const all = [...live.all()];
      return {
        running: isRunning,
        waiting: all.filter(({ record, active }) => active === undefined && record.pending !== undefined).length,
        working: live.working(),
        snoozed: all.filter(({ record }) => record.snooze !== undefined).length,
        planner: shelf.models.map(({ id }) => id).join(", ") || "offline",
        wakeMs: times.summary(),
        degraded: degraded(),
      };
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };

  function notice(record: ConversationRecord): void {
    const known = live.get(record.id);
    if (record.ended !== undefined) known?.active?.abort();
    live.put(record);
    review.busy();
    changed(record);
    wakeUp();
  }

  function onNoted(record: ConversationRecord): void {
    if (record.pending === undefined) changed(record);
    else notice(record);
  }

  function wakeUp(): void {
    wokenAtMs ??= clock.monotonic();
    stopResting();
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let restMs = SUB_AGENT_POLL_MS;
      try {
        restMs = cycle();
      } catch (thrown) {
        logger.error({ error: toErgonError(thrown, "loop_failed").toJSON() }, "A cycle of the loop failed.");
      }
      if (wokenAtMs !== undefined) times.add(clock.monotonic() - wokenAtMs);
      wokenAtMs = undefined;
      await rest(restMs);
    }
  }

  function cycle(): number {
    const hasSpent = lead.drain();
    for (const one of live.all()) if (readiness.isDue(one)) begin(one, () => wakeSnoozed(one.record.id));
    void pool
      .flush(hasSpent ? "now" : "due")
      .then((isWritten) => (isWritten || untold !== undefined ? tell() : undefined));
    while (live.working() < MAX_ACTIVE_STEPS) {
      const picked = live.pick(readiness.isReady);
      if (picked === undefined) break;
      begin(picked, (signal) => step(picked, signal));
    }
    if (live.isIdle() && review.dueInMs() === 0) alongside(review.run(stopping.signal));
    return restFor();
  }

  async function rest(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    stopResting = resolve;
    const stop = clock.after(ms, resolve);
    if (!stopping.signal.aborted && wokenAtMs === undefined) await promise;
    stop();
  }

  function restFor(): number {
    const waits = [MAX_REST_MS, ...readiness.waitsMs(live.all())];
    const reviewMs = live.isIdle() ? review.dueInMs() : undefined;
    for (const ms of [pool.flushInMs(), lead.resumesInMs(), reviewMs]) if (ms !== undefined) waits.push(ms);
    if (subAgent?.hasActiveWork() === true || untold !== undefined) waits.push(SUB_AGENT_POLL_MS);
    return Math.max(MIN_REST_MS, Math.ceil(Math.min(...waits)));
  }

  function begin(one: Live, work: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController();
    one.active = controller;
    const running = work(controller.signal)
      .then(
        () => {
          one.troubles = 0;
        },
        (thrown: unknown) => troubled(one, toErgonError(thrown, "turn_failed")),
      )
      .finally(() => {
        one.active = undefined;
        live.put(one.record);
        review.busy();
      });
    alongside(running);
  }

  /** Beside the cycles, which go on with what it leaves. */
  function alongside(work: Promise<void>): void {
    const running = work.finally(() => {
      steps.delete(running);
      wakeUp();
    });
    steps.add(running);
  }

  async function step(one: Live, signal: AbortSignal): Promise<void> {
    one.isFreed = false;
    // Its session is made by telling its first message.
    if (one.record.choices === 0 && one.record.answers === 0) await tell();
    const stepped: Stepped = await takeStep(deps, one.record, {
      others: othersOf(one.record),
      news: lead.newsFor(one.record.owner),
      discovers: lead.discovery.isOn(),
      signal,
    });
    // A person may have answered in the very moment.
    if (stepped.kind === "waits" && !one.isFreed) one.waiting = stepped.waiting;
    if (stepped.kind === "left" && !signal.aborted) one.notBeforeMs = clock.monotonic() + TROUBLE_PAUSE_MS;
    if (stepped.kind !== "kept" || stepped.record === undefined) return;
    if (stepped.focus !== undefined) live.focus(stepped.focus);
    if (stepped.unmet !== undefined) lead.discovery.search(stepped.record, stepped.unmet);
    one.record = stepped.record;
    changed(stepped.record);
  }

  async function wakeSnoozed(id: string): Promise<void> {
    const kept = await pool.commit(id, (record) => woken(record, isoTime(clock)), { signal: stopping.signal });
    if (kept === undefined) return;
    const one = live.get(id);
    if (one !== undefined) one.record = kept;
    changed(kept);
  }

  /** Trouble that is ours and no model's or tool's: tried again, and in the end said. */
  async function troubled(one: Live, error: ErgonError): Promise<void> {
    const { record } = one;
    one.troubles += 1;
    one.notBeforeMs = clock.monotonic() + TROUBLE_PAUSE_MS * one.troubles;
    if (stopping.signal.aborted) return;
    logger.warn({ conversationId: record.id, error: error.toJSON() }, "A step of a conversation failed.");
    if (one.troubles < MAX_TROUBLES || error.retryable) return;
    const content = `I could not go on with this: ${error.message}`;
    const said = (now: ConversationRecord, level: number) =>
      answered(now, { content, by: "ergon", seen: now.lastMessage, level, at: isoTime(clock) });
    try {
      const kept = await pool.commit(record.id, said, { signal: stopping.signal });
      if (kept !== undefined) one.record = kept;
      one.troubles = 0;
      if (kept !== undefined) changed(kept);
    } catch (thrown) {
      logger.error({ error: toErgonError(thrown, "turn_failed").toJSON() }, "It could not even be said.");
    }
  }

  function freed(sessionId: string): void {
    const one = live.get(sessionId);
    if (one === undefined) return;
    one.isFreed = true;
    one.waiting = undefined;
    wakeUp();
  }

  function changed(record: ConversationRecord): void {
    for (const listener of listeners) listener(record);
    void tell();
  }

  async function tell(): Promise<void> {
    try {
      await forwarder.tell();
      untold = undefined;
    } catch (thrown) {
      notTold(thrown);
    }
  }

  function notTold(thrown: unknown): void {
    if (isErgonError(thrown) && thrown.code === "store_closed") return;
    untold = toErgonError(thrown, "store_unavailable").message;
    logger.warn({ error: toErgonError(thrown, "store_unavailable").toJSON() }, "What happened was not told yet.");
  }

  function othersOf({ id, owner: whose }: ConversationRecord) {
    return [...live.all()]
      .filter(({ record }) => record.owner === whose && record.id !== id && record.pending !== undefined)
      .slice(0, OTHERS_SHOWN)
      .map(({ record }) => ({ conversationId: record.id, title: record.title }));
  }

  function degraded(): string[] {
    const trouble = pool.trouble() ?? untold;
    return [...health.sentences(), ...(trouble === undefined ? [] : [`Nothing can be written: ${trouble}`])];
  }
}

const MIN_REST_MS = 1;

/** After these a run that waited for a person may have gone on. */
const FREES = new Set<string>([
  "session-resumed",
  "session-completed",
  "session-failed",
  "session-cancelled",
  "approval-decided",
  "correction-applied",
]);
