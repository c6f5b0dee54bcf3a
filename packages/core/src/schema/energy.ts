import { z } from "zod";

export const EnergyStatus = z.enum(["high", "medium", "low", "urgent"]);
export type EnergyStatus = z.infer<typeof EnergyStatus>;

export const EnergyCause = z.enum(["tool", "model", "subagent", "review", "replenish", "adjustment"]);
export type EnergyCause = z.infer<typeof EnergyCause>;

/** One line of the energy ledger. Spends are positive, replenishment is negative. */
export const EnergyRow = z.object({
  at: z.string(),
  cause: EnergyCause,
  units: z.number(),
  toolId: z.string().optional(),
  reference: z.string().optional(),
});
export type EnergyRow = z.infer<typeof EnergyRow>;

export const EnergyState = z.object({
  level: z.number(),
  status: EnergyStatus,
  reserved: z.number(),
  replenishPerSecond: z.number(),
});
export type EnergyState = z.infer<typeof EnergyState>;
