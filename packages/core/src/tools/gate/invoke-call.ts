import { errorValue, type ErrorValue } from "../../errors/ergon-error.ts";
import { gateError } from "../../errors/gate.ts";
import { usageError } from "../../errors/usage.ts";
import type { CostModel } from "../../energy/cost-model.ts";
import type { BlobRef } from "../../schema/blob.ts";
import { copyJson } from "../../schema/values/json.ts";
import type { AllowedCall, CallOutcome, InvokeOptions } from "./call.ts";
import { cancelled, errorFrom, failureOf, timedOut } from "./call-failure.ts";
import { outcomeWithRows, type CallResult } from "./call-outcome.ts";
import { outputOf } from "./call-output.ts";
import { CallRun, type CallRunDeps, Invocation, type RunningCall } from "./call-run.ts";
import { argsInvalid } from "./check-call.ts";
import { toolNotFound, type KnownTools } from "../known-tools.ts";
import type { ToolBodies } from "../tool-bodies.ts";
import type { Tool, ToolArgs, ToolBody, ToolRun } from "../tool.ts";

/** For tools and calls that name no time limit of their own. */
export const DEFAULT_TIMEOUT_MS = 60_000;

export type InvokeDeps = CallRunDeps & {
  readonly registry: KnownTools;
  readonly bodies: ToolBodies;
  readonly costs: CostModel;
};

type Ready = {
  readonly tool: Tool;
  readonly body: ToolBody;
  readonly args: ToolArgs;
  readonly call: AllowedCall;
  readonly options: InvokeOptions;
};

/**
 * Phase two of the gate. Always resolves, at the latest when the time limit is over: a tool that ignores its signal
 * holds nobody up, and what it comes to later is logged and dropped. A result that has arrived beats the limit.
 */
export function createInvoke(deps: InvokeDeps): (call: AllowedCall, options: InvokeOptions) => Promise<CallOutcome> {
  const { registry, bodies, costs, clock } = deps;

  return async (call, options) => {
    if (call?.kind !== "allowed") {
      throw usageError("input_invalid", "Only a call that the gate has allowed can be made.");
    }
    const tool = registry.get(call.toolId);
    if (tool === undefined) return notBegun(call, toolNotFound(call.toolId, registry).toJSON(), options);
    if (call.fingerprint !== undefined && call.fingerprint !== tool.hub?.fingerprint)
      return notBegun(call, toolChanged(call), options);
    try {
      const loaded = bodies.bodyOf(tool);
      const body = loaded instanceof Promise ? await loaded : loaded;
      const args = argsFor(tool, body, call);
      if (options.signal?.aborted === true) return notBegun(call, neverCalled(call), options);
      return await run({ tool, body, args, call, options });
    } catch (thrown) {
      const error = errorFrom(thrown, () => failureOf(call, thrown));
      return notBegun(call, error, options);
    }
  };

  function run(ready: Ready): Promise<CallOutcome> {
    const { tool, body, args, call, options } = ready;
    const { toolId } = call;
    const { signal, idempotencyKey } = options;
    const startedMs = clock.monotonic();
    const timeoutMs = call.timeoutMs ?? tool.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const state: RunningCall = { isOver: false, put: [], stopping: new AbortController() };
    return new Promise((resolve) => {
      const settle = (result: CallResult): void => {
        state.isOver = true;
        stopTimer();
        signal?.removeEventListener("abort", onAbort);
        const durationMs = Math.max(0, clock.monotonic() - startedMs);
        const energyUnits = costs.settleTool(tool, durationMs);
        resolve(outcomeWithRows(clock, result, { toolId, idempotencyKey, durationMs, energyUnits }));
      };
      const giveUp = (error: ErrorValue, reason: unknown): void => {
        if (state.isOver) return;
        settle({ error });
        state.stopping.abort(reason);
      };
      const onAbort = (): void => giveUp(cancelled(call), signal?.reason);
      const onDeadline = (): void => {
        const error = timedOut(call, timeoutMs);
        giveUp(error, gateError("tool_timeout", error.message));
      };
      const stopTimer = clock.after(timeoutMs, onDeadline);
      signal?.addEventListener("abort", onAbort, { once: true });
      start(body, args, options, new CallRun(deps, call, options, state)).then(
        (returned) => {
          if (state.isOver) logLate(tool, options, "A result came after its call was over, and was dropped.");
          else settle(resultOf(tool, body, returned, state.put));
        },
        (thrown: unknown) => {
          if (!state.isOver) settle({ error: failureOf(call, thrown) });
          else if (!isAbort(thrown, state.stopping.signal)) {
            logLate(tool, options, "A tool failed after its call was over.");
          }
        },
      );
    });
  }

  function logLate(tool: Tool, options: InvokeOptions, message: string): void {
    const { idempotencyKey, logger = deps.logger } = options;
    logger.warn({ toolId: tool.id, idempotencyKey }, message);
  }

  /** Nothing was called, so nothing was spent. */
  function notBegun({ toolId }: AllowedCall, error: ErrorValue, { idempotencyKey }: InvokeOptions): CallOutcome {
    return outcomeWithRows(clock, { error }, { toolId, idempotencyKey, durationMs: 0, energyUnits: 0 });
  }
}

/** Whether a tool only says that it was stopped, as it was asked to. */
function isAbort(thrown: unknown, { aborted, reason }: AbortSignal): boolean {
  return aborted && (thrown === reason || (thrown instanceof Error && thrown.name === "AbortError"));
}

/** Async, so that what the tool throws at once, or a strange thenable, ends as a rejection like any other. */
async function start(body: ToolBody, args: ToolArgs, options: InvokeOptions, run: ToolRun): Promise<unknown> {
  return await body.run(new Invocation(args, options), run);
}

/** The tool's own copy: what it does to its args is not what the journal will say it got. */
function argsFor(tool: Tool, body: ToolBody, call: AllowedCall): ToolArgs {
  const args = copyJson(call.resolvedArgs);
  if (body.validatesAtCall !== true) return args;
  const validated = body.validateArgs(args);
  if (!validated.ok) throw argsInvalid(tool, validated.issues);
  return validated.value;
}

function resultOf(tool: Tool, body: ToolBody, returned: unknown, put: readonly BlobRef[]): CallResult {
  try {
    return { output: outputOf(tool, body, returned), put };
  } catch (thrown) {
    const unchecked = (reason: string) =>
      errorValue("output_invalid", `The result of "${tool.id}" could not be checked: ${reason}`);
    return { error: errorFrom(thrown, unchecked) };
  }
}

/** Its server has changed it since the call was checked; nothing was sent. */
function toolChanged({ toolId }: AllowedCall): ErrorValue {
  const message = `"${toolId}" is no longer the tool that was checked: its server has changed it. Nothing was called.`;
  return gateError("tool_changed", message, { details: { toolId } }).toJSON();
}

function neverCalled({ toolId }: AllowedCall): ErrorValue {
  return errorValue("cancelled", `"${toolId}" was cancelled before it was called.`, { details: { toolId } });
}
