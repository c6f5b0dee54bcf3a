import type { EnergyTotals } from "../ports/state-store.ts";

/** Sums of the energy ledger, by session and owner. The rows themselves are written for people, and read by no port. */
export type EnergySums = {
  readonly add: (sessionId: string, owner: string, spent: EnergyTotals) => void;
  readonly of: (query: { readonly sessionId?: string; readonly owner?: string }) => EnergyTotals;
};

export function createEnergySums(): EnergySums {
  const bySession = new Map<string, Map<string, EnergyTotals>>();
  return {
    add: (sessionId, owner, spent) => {
      if (spent.rows === 0) return;
      const byOwner = bySession.get(sessionId) ?? new Map<string, EnergyTotals>();
      bySession.set(sessionId, byOwner);
      byOwner.set(owner, plus(byOwner.get(owner) ?? NOTHING, spent));
    },
    of: ({ sessionId, owner }) => {
      const found = sessionId === undefined ? [...bySession.values()] : [bySession.get(sessionId)];
      return found
        .flatMap((byOwner) => (owner === undefined ? [...(byOwner?.values() ?? [])] : [byOwner?.get(owner) ?? NOTHING]))
        .reduce(plus, NOTHING);
    },
  };
}

const NOTHING: EnergyTotals = { units: 0, rows: 0 };

function plus(a: EnergyTotals, b: EnergyTotals): EnergyTotals {
  return { units: a.units + b.units, rows: a.rows + b.rows };
}
