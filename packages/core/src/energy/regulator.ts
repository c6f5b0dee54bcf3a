/*
 * The pool of energy that conversations and the sub-agent live on (spec 5). Who is let through at which level is its
 * callers' decision; it keeps the level, what is promised of it, and the ledger that explains both.
 *
 * R1  The level never leaves MIN_LEVEL … MAX_LEVEL.
 * R2  A reservation is granted only while the level less all that is reserved covers it down to MIN_LEVEL.
 * R3  The sum of the ledger's rows is the change of the level, exactly: a spend that does not fit into the range is a
 *     row with its whole cost and an `adjustment` that takes back the rest. A spend that is `told` has its row elsewhere
 *     in the same ledger.
 * R4  Energy comes back only while nothing is reserved: work and rest do not overlap.
 * R5  An amount that is not a number from 0 to MAX_AMOUNT is refused and changes nothing.
 */
import { usageError } from "../errors/usage.ts";
import { isoTime, type Clock } from "../ports/clock.ts";
import type { EnergyCause, EnergyRow, EnergyState, EnergyStatus } from "../schema/energy.ts";
import { createEnergyLedger, type EnergyLedger } from "./ledger.ts";
import { fromMicro, toMicro } from "./units.ts";

export const MIN_LEVEL = -50;
export const MAX_LEVEL = 100;
export const DEFAULT_REPLENISH_PER_SECOND = 1;
/** Far above any real cost, and low enough for sums to stay exact. */
export const MAX_AMOUNT = 1_000_000_000;
/** No more work than this is under way at once. */
export const MAX_RESERVATIONS = 10_000;

export type Spend = {
  readonly cause: EnergyCause;
  readonly toolId?: string;
  readonly reference?: string;
  /** The ledger has its row already, written by whoever did the work. */
  readonly told?: true;
};
export type Reservation = { readonly units: number };

export class EnergyRegulator {
  readonly #clock: Clock;
  readonly #replenishPerSecond: number;
  readonly #ledger: EnergyLedger = createEnergyLedger();
  readonly #open = new Set<Reservation>();
  #levelMicro: number;
  #reservedMicro = 0;
  /** Rest up to this moment has been credited. */
  #restedAtMs: number;

  constructor(deps: {
    readonly clock: Clock;
    readonly level?: number | undefined;
    readonly replenishPerSecond?: number | undefined;
  }) {
    this.#clock = deps.clock;
    this.#replenishPerSecond = amount(deps.replenishPerSecond ?? DEFAULT_REPLENISH_PER_SECOND);
    this.#levelMicro = clampMicro(toMicro(deps.level ?? MAX_LEVEL));
    this.#restedAtMs = deps.clock.monotonic();
  }

  getEnergy(): number {
    this.replenish();
    return fromMicro(this.#levelMicro);
  }

  getStatus(): EnergyStatus {
    return statusAt(this.getEnergy());
  }

  state(): EnergyState {
    const level = this.getEnergy();
    const reserved = fromMicro(this.#reservedMicro);
    return { level, status: statusAt(level), reserved, replenishPerSecond: this.#replenishPerSecond };
  }

  /** Spends, also below what is reserved: work that was done was done. */
  consumeEnergy(units: number, spend: Spend = { cause: "adjustment" }): void {
    const spentMicro = toMicro(amount(units));
    this.replenish();
    const cost = fromMicro(spentMicro);
    if (cost > 0 && spend.told !== true) this.#record(cost, spend);
    const before = this.#levelMicro;
    this.#levelMicro = clampMicro(before - spentMicro);
    const tooMuch = spentMicro - (before - this.#levelMicro);
    if (tooMuch > 0) this.#record(-fromMicro(tooMuch), { ...spend, cause: "adjustment" });
  }

  /** Credits the rest since the last look; called by every question, and by a loop that wants its events on time. */
  replenish(): void {
    const now = this.#clock.monotonic();
    const restedMs = now - this.#restedAtMs;
    if (this.#open.size > 0) {
      this.#restedAtMs = now;
      return;
    }
    const earned = Math.floor((restedMs / 1000) * toMicro(this.#replenishPerSecond));
    if (!(earned > 0)) return;
    // Only the rest that was paid for is over: a loop that looks often must not lose its fractions.
    this.#restedAtMs += (earned / toMicro(this.#replenishPerSecond)) * 1000;
    const before = this.#levelMicro;
    this.#levelMicro = clampMicro(before + earned);
    const gained = this.#levelMicro - before;
    if (gained > 0) this.#record(-fromMicro(gained), { cause: "replenish" });
  }

  /** Promises energy to work that is about to begin, or answers undefined when there is not enough. */
  reserve(units: number): Reservation | undefined {
    const wanted = toMicro(amount(units));
    this.replenish();
    if (this.#levelMicro - this.#reservedMicro - wanted < toMicro(MIN_LEVEL)) return undefined;
    if (this.#open.size >= MAX_RESERVATIONS) return undefined;
    const reservation: Reservation = { units: fromMicro(wanted) };
    this.#open.add(reservation);
    this.#reservedMicro += wanted;
    return reservation;
  }

  /** Ends a reservation with what the work has cost; 0 when it never began. */
  settle(reservation: Reservation, units: number, spend: Spend): void {
    amount(units);
    if (!this.#open.has(reservation)) {
      throw usageError(
        "input_invalid",
        "This energy reservation is not open: it was settled before, or made elsewhere.",
      );
    }
    this.replenish();
    this.#open.delete(reservation);
    this.#reservedMicro -= toMicro(reservation.units);
    this.consumeEnergy(units, spend);
  }

  /** Rows that could not be written are put back, to be taken again. */
  giveBack(rows: readonly EnergyRow[]): void {
    const later = this.#ledger.take();
    for (const row of [...rows, ...later]) this.#ledger.append(row);
  }

  /** The ledger rows since the last call, for the caller's commit. */
  takeRows(): readonly EnergyRow[] {
    this.replenish();
    return this.#ledger.take();
  }

  /** The rows since the last call and the level that they lead to, as of one moment. */
  takeChange(): { readonly rows: readonly EnergyRow[]; readonly level: number } {
    return { rows: this.takeRows(), level: fromMicro(this.#levelMicro) };
  }

  #record(units: number, { told: _told, ...spend }: Spend): void {
    this.#ledger.append({ at: isoTime(this.#clock), ...spend, units });
  }
}

export function statusAt(level: number): EnergyStatus {
  if (level > 50) return "high";
  if (level > 20) return "medium";
  return level > 0 ? "low" : "urgent";
}

function clampMicro(micro: number): number {
  return Math.min(toMicro(MAX_LEVEL), Math.max(toMicro(MIN_LEVEL), micro));
}

function amount(units: number): number {
  if (typeof units === "number" && units >= 0 && units <= MAX_AMOUNT) return units;
  throw usageError("input_invalid", `Energy is a number from 0 to ${String(MAX_AMOUNT)}, not ${String(units)}.`);
}
