/*
 * Carries effects out. `now` does what needs no waiting, inside the transition that asked; `later` does the rest after
 * the commit. Both answer through `arrive`.
 */
import { toErgonError } from "../../../errors/ergon-error.ts";
import { gateError } from "../../../errors/gate.ts";
import type { BlobRef } from "../../../schema/blob.ts";
import type { ErrorRecord } from "../../../schema/error.ts";
import type { JsonObject } from "../../../schema/values/json.ts";
import type { GivenAnswer } from "../../../schema/question.ts";
import type { CallNeedingApproval } from "../../../tools/gate/call.ts";
import type { AllowedCall, CheckAnswer } from "../../../tools/gate/gate.ts";
import { ownedBlobs } from "../../../tools/gate/owned-blobs.ts";
import type { MaybePromise, ToolContext } from "../../../tools/tool.ts";
import { stepOf } from "../../interpreter.ts";
import { TOOL_CHANGED } from "../../steps/tool-call.ts";
import { resolveWith } from "../../pointer/resolve.ts";
import { resolveTemplate } from "../../pointer/template.ts";
import type { PointerView } from "../../pointer/view.ts";
import type { At, Completion, Effect } from "../../transition.ts";
import { answerTo, askPerson } from "../waits/ask-person.ts";
import type { BlobCache } from "./blob-cache.ts";
import { downstreamOf } from "../history/downstream.ts";
import type { EngineDeps } from "../engine-deps.ts";
import { evaluateStep, type StepEvaluation } from "./evaluate-step.ts";
import { joinScopes } from "./join-scopes.ts";
import { progressInto } from "./progress.ts";
import { recoverCall } from "./recover-call.ts";
import { reusable } from "./reuse.ts";
import { idempotencyKey, toolStep, type Arrival, type RunState } from "../run/run-state.ts";
import { StepCall, type StepCaller, StepCheck } from "./call-step.ts";
import { untilWritten } from "../run/until-written.ts";
import { takesContext, wholeContext } from "./whole-context.ts";

export type Effects = {
  /** False: it has to wait, and is launched after the commit. */
  readonly now: (effect: Effect) => boolean;
  readonly later: (effect: Exclude<Effect, { kind: "sleep" }>) => Promise<void>;
  /** Nothing in the world can tell whether the call was made: neither its tool changes anything, nor is it kept elsewhere. */
  readonly isRepeatable: (effect: Extract<Effect, { kind: "invoke" }>) => boolean;
  /** A call found under way after a restart. */
  readonly recover: (effect: Extract<Effect, { kind: "invoke" }>) => Promise<void>;
};

export type EffectsParts = {
  readonly deps: EngineDeps & { readonly stopping: AbortSignal; readonly blobCache: BlobCache };
  readonly state: RunState;
  readonly arrive: (arrival: Arrival) => void;
  /** Counts work that goes on behind a transition. */
  readonly begun: (work: () => Promise<void>) => void;
};

type Check = Extract<Effect, { kind: "check" }>;
type Invoke = Extract<Effect, { kind: "invoke" }>;
type Answer = Completion extends infer C ? (C extends Completion ? Omit<C, "position" | "atMs"> : never) : never;

export function createEffects({ deps, state, arrive, begun }: EffectsParts): Effects {
  const { plan, data, sessionId, owner } = state;
  const { conversationId, mode } = state.core;
  const talk = conversationId === undefined ? {} : { conversationId };
  const caller: StepCaller = {
    caller: { kind: "plan", owner, ...(mode === undefined ? {} : { role: mode }) },
    sessionId,
    signal: state.calls.signal,
    infrastructure: { ...deps.infrastructure, sessionId, ...talk },
    blobs: ownedBlobs(deps, owner),
  };

  return {
    now: (effect) => {
      if (effect.kind === "check") return checkNow(effect);
      return effect.kind === "evaluate" ? evaluateNow(effect) : false;
    },
    later: (effect) => {
      switch (effect.kind) {
        case "check":
          return orFail(effect, () => checkLater(effect));
        case "evaluate":
          return orFail(effect, () => evaluateLater(effect));
        case "join":
          return join(effect);
        case "look":
          return look(effect);
        case "invoke":
          return call(effect);
      }
    },
    isRepeatable: ({ position }) => {
      const call = state.allowed.get(position);
      if (call === undefined || (call.effects !== "pure" && call.effects !== "read")) return false;
      // What may be reused is looked for in the journal, which must be whole.
      return deps.registry.get(call.toolId)?.freshForMs === undefined;
    },
    recover: (effect) => again(effect, "interrupted"),
  };

  function answer(
    effect: At,
    completion: Answer,
    extra: Pick<Arrival, "call" | "joined" | "asked" | "downstream" | "reusedFrom"> = {},
  ): void {
    arrive({ completion: { ...completion, position: effect.position, atMs: deps.clock.now() }, ...extra });
  }

  function fail(effect: At, thrown: unknown): void {
    answer(effect, { kind: "failed", error: toErgonError(thrown, "step_failed").toJSON() as ErrorRecord });
  }

  /** A store that cannot be read is waited for; anything else is the step's failure. */
  async function orFail(effect: At, work: () => Promise<void>): Promise<void> {
    try {
      await untilWritten(deps, work);
    } catch (thrown) {
      if (deps.stopping.aborted) throw thrown;
      fail(effect, thrown);
    }
  }

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

  function evaluateNow(effect: At): boolean {
    try {
      const found = evaluateStep(plan.dataOf(effect.stepId), data.view(effect.place));
      if (found.kind === "needs") return false;
      evaluated(effect, found);
    } catch (thrown) {
      fail(effect, thrown);
    }
    return true;
  }

  async function evaluateLater(effect: At): Promise<void> {
    evaluated(effect, await withLoads(effect, (view) => evaluateStep(plan.dataOf(effect.stepId), view)));
  }

  function evaluated(effect: At, found: StepEvaluation): void {
    const step = stepOf(plan, effect.stepId);
    if (found.items !== undefined && step.type === "loop_over_items") {
      data.bindLoop(effect.position, { alias: step.itemAlias, items: found.items });
    }
    answer(effect, { kind: "evaluated", value: found.evaluated });
  }

  function checkNow(effect: Check): boolean {
    try {
      const args = effect.args ?? effect.amendment?.args ?? resolveArguments(effect);
      if (args === undefined || largeContext(effect).length > 0) return false;
      const asked = ask(effect, args);
      if (asked instanceof Promise) begun(() => orFail(effect, async () => checked(effect, await asked)));
      else checked(effect, asked);
    } catch (thrown) {
      fail(effect, thrown);
    }
    return true;
  }

  async function checkLater(effect: Check): Promise<void> {
    const template = templateOf(effect.stepId);
    const args =
      effect.args ??
      effect.amendment?.args ??
      ((await withLoads(effect, (view) => resolveTemplate(template, view))).value as JsonObject);
    checked(effect, await ask(effect, args, await contextFor(effect)));
  }

  /** The large values of the context that a step's tool expects to find there. */
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

  function ask(
    effect: Check | Invoke,
    args: JsonObject,
    context: () => ToolContext = () => data.contextOf(effect.place),
  ): MaybePromise<CheckAnswer> {
    const step = toolStep(plan, effect.stepId);
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

  async function look({ position, approvalId }: Extract<Effect, { kind: "look" }>): Promise<void> {
    const found = await untilWritten(deps, async () => deps.approvals?.read(approvalId));
    const completion = answerTo({ position }, approvalId, found, deps.clock.now());
    if (completion !== undefined) arrive({ completion });
  }

  function allow(effect: At, verdict: AllowedCall): void {
    state.allowed.set(effect.position, verdict);
    answer(effect, { kind: "checked", answer: "allowed" });
  }

  async function join(effect: At): Promise<void> {
    await orFail(effect, async () => {
      const joined = await joinScopes({ deps, plan, sessionId, effect, cursor: state.cursor });
      for (const blob of joined.blobs) await deps.blobs.put(blob.bytes, blob.ref.mediaType);
      answer(effect, { kind: "joined" }, { joined });
    });
  }

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
      const call = await stillAllowed(effect, found.call);
      if ("error" in call) return answer(effect, { kind: "called", ok: false, error: call.error });
      state.allowed.set(effect.position, call);
      return await invoke(effect, call);
    } catch (thrown) {
      if (deps.stopping.aborted) throw thrown;
      answer(effect, { kind: "called", ok: false, error: toErgonError(thrown, "step_failed").toJSON() as ErrorRecord });
    }
  }

  /** A server may have changed its tool while nobody looked: then what was allowed, or approved, was another one. */
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

  function callerOf(toolId: string): StepCaller {
    const { infrastructure } = caller;
    if (infrastructure.model === undefined || state.watchModel === undefined) return caller;
    return { ...caller, infrastructure: { ...infrastructure, model: state.watchModel(infrastructure.model, toolId) } };
  }

  async function invoke(effect: Invoke, ready: AllowedCall): Promise<void> {
    const { stepId, position } = effect;
    const tool = deps.registry.get(ready.toolId);
    const key = idempotencyKey(sessionId, effect.amendment?.keyPosition ?? position);
    let context = (): ToolContext => data.contextOf(effect.place);
    try {
      if (largeContext(effect).length > 0) context = await untilWritten(deps, () => contextFor(effect));
    } catch (thrown) {
      if (deps.stopping.aborted) throw thrown;
      const error = toErgonError(thrown, "step_failed").toJSON() as ErrorRecord;
      return answer(effect, { kind: "called", ok: false, error });
    }
    const earlier = await reusable(deps, tool, ready, { sessionId, idempotencyKey: key });
    const outcome =
      earlier?.outcome ??
      (await deps.gate.invoke(
        ready,
        new StepCall(callerOf(ready.toolId), {
          idempotencyKey: key,
          answers: effect.amendment?.answers ?? NO_ANSWERS,
          context,
          logger: () => deps.logger.child({ sessionId, planId: plan.plan.planId, stepId }),
          progress: () => progressInto(deps, { owner, sessionId, stepId, position }),
        }),
      ));
    for (const { ref, bytes } of outcome.blobs) {
      if (bytes !== undefined) await untilWritten(deps, () => deps.blobs.put(bytes, ref.mediaType));
    }
    const ended: Answer =
      outcome.kind === "ok"
        ? { kind: "called", ok: true }
        : { kind: "called", ok: false, error: outcome.error as ErrorRecord };
    const downstream = downstreamOf(tool, outcome);
    answer(effect, ended, {
      call: outcome,
      ...(downstream === undefined ? {} : { downstream }),
      ...(earlier === undefined ? {} : { reusedFrom: earlier.reusedFrom }),
    });
  }
}

const NO_ANSWERS: readonly GivenAnswer[] = [];
const NO_BLOBS: readonly BlobRef[] = [];

/** What is left of the session's own budget once the calls under way have cost what was reserved for them. */
function energyLeft({ core, energySpent, allowed }: RunState): number | undefined {
  if (core.energyBudget === undefined) return undefined;
  let reserved = 0;
  for (const call of allowed.values()) reserved += call.reservedUnits;
  return core.energyBudget - energySpent - reserved;
}
