import { createHashEmbedder } from "../../memory/hash-embedder.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { PlannedAction } from "../../schema/mcp-loop.ts";
import { SUB_AGENT_TOOLS } from "../../hub/sub-agent.ts";
import { FINALIZE_TOOL } from "../../planner/compile-actions.ts";
import { createToolRanker } from "../../planner/default-planner.ts";
import { createToolGate } from "../../tools/gate/gate.ts";
import { isForRole, toolNotFound } from "../../tools/known-tools.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import type { Tool } from "../../tools/tool.ts";
import { type Act, createBuiltinTools } from "./builtin-tools.ts";

/** A model is shown this many tools beside the built-in ones: those nearest to what is talked about. */
export const MAX_OFFERED_TOOLS = 40;

type Routed =
  | { readonly kind: "act"; readonly act: Act }
  /** A tool of the registry: the engine carries it out, through its gate. */
  | { readonly kind: "tool" }
  /** There is no such tool. */
  | { readonly kind: "missing"; readonly why: string }
  | { readonly kind: "refused"; readonly why: string };

/** Spec 5's tool orchestrator: which tools a conversation has, and where a call of one goes. */
export type Orchestrator = {
  /** Those of the registry, whoever brought them. */
  readonly tools: () => Promise<readonly Tool[]>;
  /** For a model; `closing` leaves only what ends a turn. */
  readonly offer: (about: string, which: "all" | "closing") => Promise<readonly Tool[]>;
  readonly route: (action: PlannedAction) => Promise<Routed>;
};

export function createOrchestrator(deps: {
  readonly registry: Pick<ToolRegistry, "list">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Waits a little for tools that are on their way. */
  readonly toolsReady?: () => Promise<void>;
}): Orchestrator {
  const { registry, clock, logger, toolsReady = async () => undefined } = deps;
  const builtins = new ToolRegistry();
  for (const tool of createBuiltinTools()) builtins.register(tool);
  const gate = createToolGate({ registry: builtins, clock, logger });
  // By words alone: a sentence encoder would hold everything else up while it reads all tools for the first time.
  const ranker = createToolRanker({ embedder: createHashEmbedder() });
  const always = new Set<string>(SUB_AGENT_TOOLS);
  const tools = async (): Promise<readonly Tool[]> => {
    await toolsReady();
    return registry.list().filter((tool) => tool.id !== FINALIZE_TOOL && isForRole(tool));
  };

  return {
    tools,
    offer: async (about, which) => {
      if (which === "closing") return builtins.list({ ids: CLOSING });
      return [...builtins.list(), ...(await nearest(about))];
    },
    route: async (action) => {
      const { tool: toolId, args } = action;
      if (!builtins.has(toolId)) {
        await toolsReady();
        // One that no list shows is not for models, though they may guess its name.
        const isListed = registry.list().some(({ id, aliases = [] }) => id === toolId || aliases.includes(toolId));
        if (isListed) return { kind: "tool" };
        return { kind: "missing", why: toolNotFound(toolId, registry).message };
      }
      const caller = { kind: "conversation", owner: "" } as const;
      const checked = await gate.check({ toolId, args, context: {}, caller });
      if (checked.kind !== "allowed")
        return { kind: "refused", why: checked.kind === "denied" ? checked.error.message : checked.reason };
      const outcome = await gate.invoke(checked, { idempotencyKey: toolId, context: {} });
      if (outcome.kind === "failed") return { kind: "refused", why: outcome.error.message };
      return { kind: "act", act: outcome.output as Act };
    },
  };

  async function nearest(about: string): Promise<readonly Tool[]> {
    const all = await tools();
    if (all.length <= MAX_OFFERED_TOOLS) return all;
    const [kept, others] = [all.filter(({ id }) => always.has(id)), all.filter(({ id }) => !always.has(id))];
    const ranked = await ranker.rank(about, others);
    return [...kept, ...ranked.slice(0, MAX_OFFERED_TOOLS - kept.length).map(({ tool }) => tool)];
  }
}

const CLOSING = ["end_conversation", "respond"];
