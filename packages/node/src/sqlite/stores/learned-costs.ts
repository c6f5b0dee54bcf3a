import type { HubToolStats } from "@ergon/core/hub";

/** What is learned of a tool is learned from its newest calls. */
export const LEARNED_CALLS = 100;

/** A call as statistics see it; `code` says how it failed. */
export type StatsRow = {
  readonly tool: string;
  readonly serverId: string;
  readonly durationMs: number;
  readonly units: number;
  readonly code: string | null;
};

export type Learned = {
  readonly add: (row: StatsRow) => void;
  readonly usualUnits: (toolName: string) => number | undefined;
};

/** Oldest first. A call that failed says nothing about what one costs that does not. */
export function learnFrom(rows: readonly StatsRow[]): Learned {
  const spent = new Map<string, number[]>();
  const add = ({ tool, units, code }: StatsRow): void => {
    if (code !== null) return;
    const seen = spent.get(tool) ?? [];
    seen.push(units);
    if (seen.length > LEARNED_CALLS) seen.shift();
    spent.set(tool, seen);
  };
  for (const row of rows) add(row);
  return { add, usualUnits: (toolName) => percentile(spent.get(toolName) ?? [], 0.5) ?? undefined };
}

/** By tool. */
export function summed(rows: readonly StatsRow[]): HubToolStats[] {
  const byTool = new Map<string, StatsRow[]>();
  for (const row of rows) {
    const seen = byTool.get(row.tool);
    if (seen === undefined) byTool.set(row.tool, [row]);
    else seen.push(row);
  }
  return [...byTool]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([tool, calls]) => {
      const fine = calls.filter(({ code }) => code === null);
      const times = fine.map(({ durationMs }) => durationMs);
      const units = fine.map((call) => call.units);
      const errors: Record<string, number> = {};
      for (const { code } of calls) if (code !== null) errors[code] = (errors[code] ?? 0) + 1;
      return {
        tool,
        serverId: calls[0]?.serverId ?? "",
        calls: calls.length,
        failures: calls.length - fine.length,
        successRate: fine.length / calls.length,
        p50Ms: percentile(times, 0.5),
        p95Ms: percentile(times, 0.95),
        p50Energy: percentile(units, 0.5),
        p95Energy: percentile(units, 0.95),
        errors,
      };
    });
}

/** The smallest value that at least this share of all does not exceed. */
function percentile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
