import type { EnergyRegulator } from "../../energy/regulator.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ConversationRecord, ConversationState } from "../../schema/conversation.ts";
import type { OpenWait } from "../../schema/session.ts";
import type { ModelSelector } from "../energy/model-selector.ts";
import type { Live } from "./live-conversations.ts";
import type { ModelHealth } from "./model-health.ts";

/** A step that is dearer than this begins all the same: the pool never has much more. */
const MAX_NEEDED = 50;
/** With less than this nothing begins. */
const LEAST_LEVEL = 0.1;

/** When conversations may go on, and how they stand until then. Only looks; changes nothing. */
export type Readiness = {
  /** Its next step can begin, and be paid. */
  readonly isReady: (one: Live) => boolean;
  /** What it was put off for is over. */
  readonly isDue: (one: Live) => boolean;
  /** How long until one of them may be ready or due without anybody doing anything. */
  readonly waitsMs: (all: Iterable<Live>) => readonly number[];
  readonly stateOf: (record: ConversationRecord, one: Live | undefined) => Standing;
};

type Standing = { readonly state: ConversationState; readonly waiting?: readonly OpenWait[] };

export function createReadiness(deps: {
  readonly regulator: EnergyRegulator;
  readonly shelf: ModelSelector;
  readonly health: ModelHealth;
  readonly clock: Clock;
  /** What the next step of a conversation is expected to cost at this level. */
  readonly expected: (record: ConversationRecord, level: number) => number;
  readonly isRunning: () => boolean;
}): Readiness {
  const { regulator, shelf, health, clock } = deps;
  return {
    isReady: ({ record, active, waiting, notBeforeMs }) => {
      if (active !== undefined || waiting !== undefined || !isOwed(record)) return false;
      if (notBeforeMs > clock.monotonic()) return false;
      if (record.work === undefined && !modelIsThere()) return false;
      return isCovered(record);
    },
    isDue: ({ snoozedUntil, active, notBeforeMs }) => {
      if (active !== undefined || snoozedUntil === undefined) return false;
      return Math.max(notBeforeMs, snoozedUntil.atMs) <= clock.monotonic();
    },
    waitsMs: (all) => {
      const waits: number[] = [];
      const { level, reserved, replenishPerSecond } = regulator.state();
      for (const { active, record, snoozedUntil, waiting, notBeforeMs } of all) {
        const quietMs = notBeforeMs - clock.monotonic();
        if (snoozedUntil !== undefined && active === undefined)
          waits.push(Math.max(quietMs, snoozedUntil.atMs - clock.monotonic()));
        if (active !== undefined || waiting !== undefined || !isOwed(record)) continue;
        const lacking = neededFor(record, level) - level;
        if (quietMs > 0) waits.push(quietMs);
        else if (lacking > 0 && replenishPerSecond > 0 && reserved === 0)
          waits.push((lacking / replenishPerSecond) * 1_000);
      }
      const tryMs = health.nextTryMs();
      if (tryMs !== undefined && tryMs > clock.monotonic()) waits.push(tryMs - clock.monotonic());
      return waits;
    },
    stateOf: (record, one) => {
      if (record.ended !== undefined) return { state: "ended" };
      if (one?.active !== undefined) return { state: "working" };
      if (one?.waiting !== undefined) return { state: "waiting_for_person", waiting: one.waiting };
      if (!isOwed(record)) return { state: record.snooze === undefined ? "answered" : "snoozed" };
      if (record.work === undefined && !modelIsThere()) return { state: "waiting_for_model" };
      return { state: isCovered(record) || !deps.isRunning() ? "waiting" : "waiting_for_energy" };
    },
  };

  function isCovered(record: ConversationRecord): boolean {
    const { level, reserved } = regulator.state();
    return level - reserved >= neededFor(record, level);
  }

  function neededFor(record: ConversationRecord, level: number): number {
    return Math.max(LEAST_LEVEL, Math.min(MAX_NEEDED, deps.expected(record, level)), record.awaitsEnergy ?? 0);
  }

  function modelIsThere(): boolean {
    return shelf.models.length === 0 || shelf.models.some(({ id }) => health.isAvailable(id));
  }
}

/** An answer or a result is owed. */
function isOwed({ pending, work, ended }: ConversationRecord): boolean {
  return ended === undefined && (pending !== undefined || work !== undefined);
}
