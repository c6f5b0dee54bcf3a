/*
 * Asks the gate about calls, and people where the gate says so.
 * Covered by engine-contract.test.ts, outcomes.test.ts and the crash simulation with approvals.
 */
import { gateError } from "../../../errors/gate.ts";
import type { ErrorRecord } from "../../../schema/error.ts";
import type { JsonObject } from "../../../schema/values/json.ts";
import type { CallNeedingApproval } from "../../../tools/gate/call.ts";
import type { AllowedCall, CheckAnswer } from "../../../tools/gate/gate.ts";
import type { MaybePromise, ToolContext } from "../../../tools/tool.ts";
import { TOOL_CHANGED } from "../../steps/tool-call.ts";
import type { At, Effect } from "../../transition.ts";
import { toolStep, type RunState } from "../run/run-state.ts";
import { untilWritten } from "../run/until-written.ts";
import { answerTo, askPerson } from "../waits/ask-person.ts";
import { StepCheck, type StepCaller } from "./call-step.ts";
import type { EffectAnswers } from "./effect-answers.ts";
import type { Check, EffectsParts, Invoke } from "./effect-parts.ts";
import type { StepData } from "./step-data.ts";

export type Checks = {
  /** False: it has to wait, and is launched after the commit. */
  readonly now: (effect: Check) => boolean;
  readonly later: (effect: Check) => Promise<void>;
  readonly pollApproval: (effect: Extract<Effect, { kind: "look" }>) => Promise<void>;
  /** A server may have changed its tool meanwhile: then another tool was allowed or approved. */
  readonly stillAllowed: (effect: Invoke, call: AllowedCall) => Promise<AllowedCall | { readonly error: ErrorRecord }>;
};

type CheckParts = EffectsParts & {
  readonly caller: StepCaller;
  readonly data: StepData;
  readonly answers: EffectAnswers;
};

export function createChecks({ deps, state, arrive, begun, caller, data, answers }: CheckParts): Checks {
  const { answer, fail, orFail } = answers;
  return {
    now: checkNow,
    later: (effect) => orFail(effect, () => checkLater(effect)),
    pollApproval,
    stillAllowed,
  };

  function checkNow(effect: Check): boolean {
    try {
      const args = data.argumentsNow(effect);
      if (args === undefined || data.largeContext(effect).length > 0) return false;
      const asked = ask(effect, args);
      if (asked instanceof Promise) begun(() => orFail(effect, async () => checked(effect, await asked)));
      else checked(effect, asked);
    } catch (thrown) {
      fail(effect, thrown);
    }
    return true;
  }

  async function checkLater(effect: Check): Promise<void> {
    const args = await data.argumentsLater(effect);
    checked(effect, await ask(effect, args, await data.contextFor(effect)));
  }

  function ask(
    effect: Check | Invoke,
    args: JsonObject,
    context: () => ToolContext = () => state.data.contextOf(effect.place),
  ): MaybePromise<CheckAnswer> {
    const step = toolStep(state.plan, effect.stepId);
    const asked = {
      toolId: effect.amendment?.toolId ?? step.toolId,
      args,
      timeoutMs: step.timeoutMs,
      remainingUnits: energyLeft(state),
      context,
    };
    return deps.gate.check(new StepCheck(caller, asked));
  }

  function checked(effect: Check, verdict: CheckAnswer): void {
    switch (verdict.kind) {
      case "allowed": {
        const { requestBlob } = verdict;
        if (requestBlob === undefined) return allow(effect, verdict);
        return begun(async () => {
          await untilWritten(deps, () => deps.blobs.put(requestBlob.bytes, requestBlob.ref.mediaType));
          allow(effect, verdict);
        });
      }
      case "needs_approval":
        return begun(() => orFail(effect, () => askAbout(effect, verdict)));
      case "denied":
        return answer(effect, { kind: "failed", error: verdict.error as ErrorRecord });
    }
  }

  async function askAbout(effect: Check, verdict: CallNeedingApproval): Promise<void> {
    const asked = await askPerson(deps.approvals, state, effect, verdict);
    if (asked.kind === "allowed") return checked(effect, asked.call);
    if (asked.kind === "refused") return answer(effect, { kind: "failed", error: asked.error });
    const { approval, args } = asked;
    const kept = args === undefined ? {} : { args };
    const waits = { answer: "needs_approval", approvalId: approval.id, message: approval.reason, ...kept } as const;
    answer(effect, { kind: "checked", ...waits }, { asked: approval });
  }

  async function pollApproval({ position, approvalId }: Extract<Effect, { kind: "look" }>): Promise<void> {
    const found = await untilWritten(deps, async () => deps.approvals?.read(approvalId));
    const completion = answerTo({ position }, approvalId, found, deps.clock.now());
    if (completion !== undefined) arrive({ completion });
  }

  function allow(effect: At, verdict: AllowedCall): void {
    state.allowed.set(effect.position, verdict);
    answer(effect, { kind: "checked", answer: "allowed" });
  }

  async function stillAllowed(
    effect: Invoke,
    call: AllowedCall,
  ): Promise<AllowedCall | { readonly error: ErrorRecord }> {
    if (deps.registry.get(call.toolId)?.hub === undefined) return call;
    const verdict = await ask(effect, call.resolvedArgs);
    if (verdict.kind === "denied") return { error: verdict.error as ErrorRecord };
    if (verdict.kind === "allowed") return verdict;
    const asked = await askPerson(deps.approvals, state, effect, verdict);
    if (asked.kind === "allowed") return asked.call;
    if (asked.kind === "refused") return { error: asked.error };
    const message = `"${call.toolId}" is no longer the tool that was approved; a person is asked again.`;
    return { error: gateError(TOOL_CHANGED, message).toJSON() as ErrorRecord };
  }
}

/** What is left of the session's own budget once the calls under way have cost what was reserved for them. */
function energyLeft({ core, energySpent, allowed }: RunState): number | undefined {
  if (core.energyBudget === undefined) return undefined;
  let reserved = 0;
  for (const call of allowed.values()) reserved += call.reservedUnits;
  return core.energyBudget - energySpent - reserved;
}
