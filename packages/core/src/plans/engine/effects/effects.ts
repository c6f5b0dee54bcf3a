/*
 * Carries effects out. `now` does what needs no waiting, inside the transition that asked; `later` does the rest after
 * the commit. Both answer through `arrive`.
 * Covered by engine-contract.test.ts and the crash simulation.
 */
import { ownedBlobs } from "../../../tools/gate/owned-blobs.ts";
import { stepOf } from "../../interpreter.ts";
import type { At, Effect } from "../../transition.ts";
import type { StepCaller } from "./call-step.ts";
import { createCalls } from "./calls.ts";
import { createChecks } from "./checks.ts";
import type { EffectsParts } from "./effect-parts.ts";
import { createEffectAnswers } from "./effect-answers.ts";
import { evaluateStep, type StepEvaluation } from "./evaluate-step.ts";
import { joinScopes } from "./join-scopes.ts";
import { createStepData } from "./step-data.ts";

export type Effects = {
  /** False: it has to wait, and is launched after the commit. */
  readonly now: (effect: Effect) => boolean;
  readonly later: (effect: Exclude<Effect, { kind: "sleep" }>) => Promise<void>;
  /** Nothing in the world can tell whether the call was made: neither its tool changes anything, nor is it kept elsewhere. */
  readonly isRepeatable: (effect: Extract<Effect, { kind: "invoke" }>) => boolean;
  /** A call found under way after a restart. */
  readonly recover: (effect: Extract<Effect, { kind: "invoke" }>) => Promise<void>;
};

export function createEffects(parts: EffectsParts): Effects {
  const { deps, state } = parts;
  const { sessionId } = state;
  const caller = callerOf(parts);
  const data = createStepData(parts);
  const answers = createEffectAnswers(parts);
  const { answer, fail, orFail } = answers;
  const checks = createChecks({ ...parts, caller, data, answers });
  const calls = createCalls({ deps, state, caller, data, checks, answers });

  return {
    now: (effect) => {
      if (effect.kind === "check") return checks.now(effect);
      return effect.kind === "evaluate" ? evaluateNow(effect) : false;
    },
    later: (effect) => {
      switch (effect.kind) {
        case "check":
          return checks.later(effect);
        case "evaluate":
          return orFail(effect, () => evaluateLater(effect));
        case "join":
          return join(effect);
        case "look":
          return checks.pollApproval(effect);
        case "invoke":
          return calls.call(effect);
      }
    },
    isRepeatable: ({ position }) => {
      const call = state.allowed.get(position);
      if (call === undefined || (call.effects !== "pure" && call.effects !== "read")) return false;
      // What may be reused is looked for in the journal, which must be whole.
      return deps.registry.get(call.toolId)?.freshForMs === undefined;
    },
    recover: (effect) => calls.again(effect, "interrupted"),
  };

  function evaluateNow(effect: At): boolean {
    try {
      const found = evaluateStep(state.plan.dataOf(effect.stepId), state.data.view(effect.place));
      if (found.kind === "needs") return false;
      evaluated(effect, found);
    } catch (thrown) {
      fail(effect, thrown);
    }
    return true;
  }

  async function evaluateLater(effect: At): Promise<void> {
    evaluated(effect, await data.withLoads(effect, (view) => evaluateStep(state.plan.dataOf(effect.stepId), view)));
  }

  function evaluated(effect: At, found: StepEvaluation): void {
    const step = stepOf(state.plan, effect.stepId);
    if (found.items !== undefined && step.type === "loop_over_items") {
      state.data.bindLoop(effect.position, { alias: step.itemAlias, items: found.items });
    }
    answer(effect, { kind: "evaluated", value: found.evaluated });
  }

  async function join(effect: At): Promise<void> {
    await orFail(effect, async () => {
      const joined = await joinScopes({ deps, plan: state.plan, sessionId, effect, cursor: state.cursor });
      for (const blob of joined.blobs) await deps.blobs.put(blob.bytes, blob.ref.mediaType);
      answer(effect, { kind: "joined" }, { joined });
    });
  }
}

function callerOf({ deps, state: { sessionId, owner, core, calls } }: EffectsParts): StepCaller {
  const { conversationId, mode } = core;
  const talk = conversationId === undefined ? {} : { conversationId };
  return {
    caller: { kind: "plan", owner, ...(mode === undefined ? {} : { role: mode }) },
    sessionId,
    signal: calls.signal,
    infrastructure: { ...deps.infrastructure, sessionId, ...talk },
    blobs: ownedBlobs(deps, owner),
  };
}
