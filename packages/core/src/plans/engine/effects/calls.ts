/*
 * Makes the calls that the gate allowed, once more after a restart where that is safe.
 * Covered by engine-contract.test.ts, outcomes.test.ts, reuse.test.ts and the crash simulation.
 */
import type { ErrorRecord } from "../../../schema/error.ts";
import type { GivenAnswer } from "../../../schema/question.ts";
import type { AllowedCall } from "../../../tools/gate/gate.ts";
import type { ToolContext } from "../../../tools/tool.ts";
import { downstreamOf } from "../history/downstream.ts";
import { idempotencyKey, toolStep } from "../run/run-state.ts";
import { untilWritten } from "../run/until-written.ts";
import { StepCall, type StepCaller } from "./call-step.ts";
import type { Checks } from "./checks.ts";
import { stepError, type Answer, type EffectAnswers } from "./effect-answers.ts";
import { progressInto } from "./progress.ts";
import { recoverCall } from "./recover-call.ts";
import { reusable } from "./reuse.ts";
import type { EffectsParts, Invoke } from "./effect-parts.ts";
import type { StepData } from "./step-data.ts";

export type Calls = {
  readonly call: (effect: Invoke) => Promise<void>;
  /** A call whose check is no longer in memory: its run was unloaded, or the process ended. */
  readonly again: (effect: Invoke, after: "paused" | "interrupted") => Promise<void>;
};

type CallParts = Pick<EffectsParts, "deps" | "state"> & {
  readonly caller: StepCaller;
  readonly data: StepData;
  readonly checks: Checks;
  readonly answers: EffectAnswers;
};

export function createCalls({ deps, state, caller, data, checks, answers: { answer } }: CallParts): Calls {
  const { plan, sessionId, owner } = state;
  return { call, again };

  /** An attempt after a pause finds what was allowed in the journal, if the run has left memory since. */
  async function call(effect: Invoke): Promise<void> {
    const ready = state.allowed.get(effect.position);
    return ready === undefined ? again(effect, "paused") : invoke(effect, ready);
  }

  async function again(effect: Invoke, after: "paused" | "interrupted"): Promise<void> {
    const step = toolStep(plan, effect.stepId);
    try {
      const found = await untilWritten(deps, () =>
        recoverCall({ deps, session: { owner, sessionId }, effect, step, after }),
      );
      if (found.kind === "unknown") return answer(effect, { kind: "called", ok: false, error: found.error });
      const call = await checks.stillAllowed(effect, found.call);
      if ("error" in call) return answer(effect, { kind: "called", ok: false, error: call.error });
      state.allowed.set(effect.position, call);
      return await invoke(effect, call);
    } catch (thrown) {
      if (deps.stopping.aborted) throw thrown;
      answer(effect, { kind: "called", ok: false, error: stepError(thrown) });
    }
  }

  function callerOf(toolId: string): StepCaller {
    const { infrastructure } = caller;
    if (infrastructure.model === undefined || state.watchModel === undefined) return caller;
    return { ...caller, infrastructure: { ...infrastructure, model: state.watchModel(infrastructure.model, toolId) } };
  }

  async function invoke(effect: Invoke, ready: AllowedCall): Promise<void> {
    const { stepId, position } = effect;
    const tool = deps.registry.get(ready.toolId);
    const key = idempotencyKey(sessionId, effect.amendment?.keyPosition ?? position);
    let context = (): ToolContext => state.data.contextOf(effect.place);
    try {
      if (data.largeContext(effect).length > 0) context = await untilWritten(deps, () => data.contextFor(effect));
    } catch (thrown) {
      if (deps.stopping.aborted) throw thrown;
      const error = stepError(thrown);
      return answer(effect, { kind: "called", ok: false, error });
    }
    const earlier = await reusable(deps, tool, ready, { sessionId, idempotencyKey: key });
    const outcome =
      earlier?.outcome ??
      (await deps.gate.invoke(
        ready,
        new StepCall(callerOf(ready.toolId), {
          idempotencyKey: key,
          answers: effect.amendment?.answers ?? (state.attended === undefined ? NO_ANSWERS : undefined),
          context,
          logger: () => deps.logger.child({ sessionId, planId: plan.plan.planId, stepId }),
          progress: () =>
            state.attended === undefined
              ? progressInto(deps, { owner, sessionId, stepId, position })
              : state.attended.progress,
        }),
      ));
    if (state.attended !== undefined) state.attended.outcome = outcome;
    for (const { ref, bytes } of outcome.blobs) {
      if (bytes !== undefined) await untilWritten(deps, () => deps.blobs.put(bytes, ref.mediaType));
    }
    const ended: Answer =
      outcome.kind === "ok"
        ? { kind: "called", ok: true }
        : { kind: "called", ok: false, error: outcome.error as ErrorRecord };
    const downstream = downstreamOf(tool, outcome);
    answer(effect, ended, { call: outcome, downstream, reusedFrom: earlier?.reusedFrom });
  }
}

const NO_ANSWERS: readonly GivenAnswer[] = [];
