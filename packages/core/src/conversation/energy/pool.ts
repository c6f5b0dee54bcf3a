import { isErgonError, toErgonError } from "../../errors/ergon-error.ts";
import { MAX_LEVEL, type EnergyRegulator, type Reservation, type Spend } from "../../energy/regulator.ts";
import { fromMicro, toMicro } from "../../energy/units.ts";
import { isoTime, type Clock } from "../../ports/clock.ts";
import type { ConversationStore, PoolChange } from "../../ports/conversation-store.ts";
import type { ConversationRecord } from "../../schema/conversation.ts";
import type { EnergyRow } from "../../schema/energy.ts";
import type { Happened } from "../step/progress.ts";

/** What rest has brought is written down this often at the latest. */
const FLUSH_MS = 30_000;
/** A disk that took nothing is tried again this often, for as long as it takes. */
const RETRY_MS = 1_000;

type Cost = {
  readonly reservation: Reservation | undefined;
  readonly units: number;
  readonly spend: Pick<Spend, "cause" | "told">;
};

/** The energy pool and the conversations that live on it, written together. */
export type Pool = {
  /**
   * Writes a step and what it cost as one. A store that does not take it is tried again until it does or the signal
   * aborts: what a model has said and what a tool has done is not thrown away.
   */
  readonly commit: (
    id: string,
    become: (record: ConversationRecord, level: number) => Happened,
    options: { readonly cost?: Cost; readonly signal: AbortSignal },
  ) => Promise<ConversationRecord | undefined>;
  /** Writes down what came back or was drained, when it is time to; true when it did. */
  readonly flush: (when: "due" | "now") => Promise<boolean>;
  readonly flushInMs: () => number | undefined;
  /** Why nothing can be written at the moment. */
  readonly trouble: () => string | undefined;
};

export function createPool(deps: {
  readonly regulator: EnergyRegulator;
  readonly store: Pick<ConversationStore, "change" | "keepPool">;
  readonly owner: string;
  readonly clock: Clock;
}): Pool {
  const { regulator, store, owner, clock } = deps;
  let written = regulator.getEnergy();
  let flushedAtMs = clock.monotonic();
  let trouble: string | undefined;

  return {
    commit: async (id, become, { cost, signal }) => {
      if (cost !== undefined) charge(id, cost);
      for (;;) {
        const taken = take(id);
        try {
          const kept = await store.change(id, (record) => {
            const { record: now, entries } =
              record.ended === undefined ? become(record, taken.pool.level) : { record, entries: [] };
            const energySpent = fromMicro(toMicro(now.energySpent) + toMicro(cost?.units ?? 0));
            return { record: { ...now, energySpent }, entries, at: isoTime(clock), ...taken };
          });
          if (kept === undefined) regulator.giveBack([...taken.spent, ...taken.pool.rows]);
          else ok(taken.pool.level);
          return kept;
        } catch (thrown) {
          regulator.giveBack([...taken.spent, ...taken.pool.rows]);
          if (!isErgonError(thrown) || !thrown.retryable || signal.aborted) throw thrown;
          trouble = thrown.message;
          await clock.sleep(RETRY_MS, signal);
        }
      }
    },
    flush: async (when) => {
      const level = regulator.getEnergy();
      if (level === written) return false;
      const isDue = clock.monotonic() - flushedAtMs >= FLUSH_MS || level === MAX_LEVEL;
      if (when === "due" && !isDue) return false;
      flushedAtMs = clock.monotonic();
      const { pool, spent } = take("");
      regulator.giveBack(spent);
      try {
        await store.keepPool(isoTime(clock), pool);
        ok(pool.level);
        return true;
      } catch (thrown) {
        regulator.giveBack(pool.rows);
        trouble = toErgonError(thrown, "store_unavailable").message;
        return false;
      }
    },
    flushInMs: () => {
      const { level, replenishPerSecond } = regulator.state();
      const isFull = level === MAX_LEVEL;
      if ((isFull || replenishPerSecond === 0) && level === written) return undefined;
      if (isFull) return trouble === undefined ? 0 : RETRY_MS;
      const due = Math.max(0, flushedAtMs + FLUSH_MS - clock.monotonic());
      return replenishPerSecond === 0
        ? due
        : Math.min(due, Math.ceil(((MAX_LEVEL - level) / replenishPerSecond) * 1_000));
    },
    trouble: () => trouble,
  };

  function charge(id: string, { reservation, units, spend }: Cost): void {
    const told = { ...spend, reference: id };
    if (reservation === undefined) regulator.consumeEnergy(units, told);
    else regulator.settle(reservation, units, told);
  }

  /** A conversation's own rows, those of the pool, and the level that both lead to; others' rows stay. */
  function take(id: string): { readonly spent: readonly EnergyRow[]; readonly pool: PoolChange } {
    const { rows, level } = regulator.takeChange();
    const own = (row: EnergyRow): boolean => row.cause === "model";
    const isMine = ({ reference }: EnergyRow): boolean => reference === id;
    regulator.giveBack(rows.filter((row) => own(row) && !isMine(row)));
    return {
      spent: rows.filter((row) => own(row) && isMine(row)),
      pool: { owner, level, rows: rows.filter((row) => !own(row)) },
    };
  }

  function ok(level: number): void {
    written = level;
    trouble = undefined;
  }
}
