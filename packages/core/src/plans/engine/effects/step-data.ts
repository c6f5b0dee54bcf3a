import type { BlobRef } from "../../../schema/blob.ts";
import type { JsonObject } from "../../../schema/values/json.ts";
import type { ToolContext } from "../../../tools/tool.ts";
import { resolveWith } from "../../pointer/resolve.ts";
import { resolveTemplate } from "../../pointer/template.ts";
import type { PointerView } from "../../pointer/view.ts";
import type { At } from "../../transition.ts";
import type { EngineDeps } from "../engine-deps.ts";
import { toolStep, type RunState } from "../run/run-state.ts";
import type { BlobCache } from "./blob-cache.ts";
import type { Check, Invoke } from "./effect-parts.ts";
import { takesContext, wholeContext } from "./whole-context.ts";

/** What the steps of a run read: its arguments and its context, in memory or loaded. */
export type StepData = {
  readonly withLoads: <A extends { readonly kind: string }>(
    effect: At,
    attempt: (view: PointerView) => A,
  ) => Promise<Exclude<A, { kind: "needs" }>>;
  /** Undefined when something has to be loaded first. */
  readonly argumentsNow: (effect: Check) => JsonObject | undefined;
  readonly argumentsLater: (effect: Check) => Promise<JsonObject>;
  /** The large values of the context that a step's tool expects to find there. */
  readonly largeContext: (effect: Check | Invoke) => readonly BlobRef[];
  readonly contextFor: (effect: Check | Invoke) => Promise<() => ToolContext>;
};

type StepDataParts = { readonly deps: EngineDeps & { readonly blobCache: BlobCache }; readonly state: RunState };

export function createStepData({ deps, state: { plan, data, owner } }: StepDataParts): StepData {
  return {
    withLoads,
    argumentsNow: (effect) => given(effect) ?? resolveArguments(effect),
    argumentsLater: async (effect) => {
      const template = templateOf(effect.stepId);
      return (
        given(effect) ?? ((await withLoads(effect, (view) => resolveTemplate(template, view))).value as JsonObject)
      );
    },
    largeContext,
    contextFor,
  };

  function withLoads<A extends { readonly kind: string }>(
    effect: At,
    attempt: (view: PointerView) => A,
  ): Promise<Exclude<A, { kind: "needs" }>> {
    const loaded = new Map<string, unknown>();
    return resolveWith<Exclude<A, { kind: "needs" }>>(
      () => attempt(data.view(effect.place, loaded)) as Exclude<A, { kind: "needs" }>,
      (loads) => data.load(effect, loads, loaded),
    );
  }

  function largeContext({ stepId, place, amendment }: Check | Invoke): readonly BlobRef[] {
    const tool = deps.registry.get(amendment?.toolId ?? toolStep(plan, stepId).toolId);
    return takesContext(tool) ? data.contextBlobs(place) : NO_BLOBS;
  }

  async function contextFor(effect: Check | Invoke): Promise<() => ToolContext> {
    const large = largeContext(effect);
    const whole = await wholeContext(large, deps.blobCache, owner);
    return () => whole(data.contextOf(effect.place));
  }

  function resolveArguments({ stepId, place }: At): JsonObject | undefined {
    const template = templateOf(stepId);
    if (template.kind === "literal") return template.value as JsonObject;
    const found = resolveTemplate(template, data.view(place));
    return found.kind === "needs" ? undefined : (found.value as JsonObject);
  }

  function templateOf(stepId: string): Parameters<typeof resolveTemplate>[0] {
    const needed = plan.dataOf(stepId);
    if (needed.kind !== "arguments") throw new Error(`Step "${stepId}" calls no tool.`);
    return needed.template;
  }
}

/** What a person was asked about, or put in place of what the plan says. */
function given({ args, amendment }: Check): JsonObject | undefined {
  return args ?? amendment?.args;
}

const NO_BLOBS: readonly BlobRef[] = [];
