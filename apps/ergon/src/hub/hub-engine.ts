import type { Engine, ExecutePlan } from "@ergon/core/engine";
import { explainRefusal } from "./explain-missing.ts";
import type { LateTools } from "./hub-gate.ts";

export type PlanTools = LateTools & {
  readonly plan: (planId: string) => unknown;
  readonly allToolsReady: () => Promise<void>;
};

/** An engine whose preflight finds the tools of servers that were not needed before. */
export function hubEngine<E extends Engine>(engine: E, { mayHave, reach, absence, plan, allToolsReady }: PlanTools): E {
  const reaching = async <T>({ plan: asked }: Pick<ExecutePlan, "plan">, start: () => Promise<T>): Promise<T> => {
    const named = toolsIn(typeof asked === "string" ? plan(asked) : asked).filter(mayHave);
    if (named.length === 0) return start();
    await reach(named);
    try {
      return await start();
    } catch (thrown) {
      const absent = named.filter(mayHave).map((toolId) => [toolId, absence(toolId)?.message ?? ""] as const);
      throw explainRefusal(thrown, new Map(absent.filter(([, message]) => message !== "")));
    }
  };
  return {
    ...engine,
    startRun: (request) => reaching(request, () => engine.startRun(request)),
    executePlan: (request) => reaching(request, () => engine.executePlan(request)),
    // Its plan is the other session's, which only the engine knows.
    fork: async (request) => {
      await allToolsReady();
      return engine.fork(request);
    },
  };
}

/** A plan of more words than this is preflight's to refuse. */
const MAX_WORDS = 100_000;

/** Every word that may name a tool, in a plan that nobody has checked yet. */
export function toolsIn(plan: unknown): string[] {
  const found = new Set<string>();
  const open: unknown[] = [plan];
  for (let seen = 0; open.length > 0 && seen < MAX_WORDS; seen += 1) {
    const value = open.pop();
    if (typeof value !== "object" || value === null) continue;
    const { toolId, alternatives } = value as { readonly toolId?: unknown; readonly alternatives?: unknown };
    const named: readonly unknown[] = Array.isArray(alternatives) ? [toolId, ...(alternatives as unknown[])] : [toolId];
    for (const name of named) if (typeof name === "string") found.add(name);
    open.push(...(Object.values(value) as unknown[]));
  }
  return [...found];
}
