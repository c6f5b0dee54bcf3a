/*
 * The gate: nothing calls a tool but this. `check` decides, `invoke` calls; what lies between them, a person's yes or a
 * commit, is the caller's. Plan steps, loop steps, conversation turns, HTTP, MCP and CLI callers all pass it.
 *
 * G1  It writes nothing: rows and blobs are returned for the caller's commit.
 * G2  `check` answers bad input, `invoke` every failure of a tool; neither throws for them.
 * G3  A tool runs only with args that its schema has accepted, and on a copy of them.
 * G4  `invoke` settles once, by its time limit at the latest, and leaves no timer and no listener behind.
 * G5  A call of effects `once` that was sent and whose result is not known is `outcome_unknown`, never a failure.
 * G6  An output is JSON, bounded, and shares nothing with the tool's objects.
 */
import { createCostModel, type CostModel } from "../../energy/cost-model.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ISandboxService } from "../../ports/sandbox.ts";
import type { AllowedCall, CallOutcome, CheckAnswer, InvokeOptions, ToolCall } from "./call.ts";
import { createCheck } from "./check-call.ts";
import { createInvoke } from "./invoke-call.ts";
import type { KnownTools } from "../known-tools.ts";
import { allowAll, type ToolPolicy } from "./policy.ts";
import { noSandbox } from "./run-sandbox.ts";
import { createToolBodies } from "../tool-bodies.ts";
import type { MaybePromise } from "../tool.ts";

export type { AllowedCall, CallOutcome, CheckAnswer } from "./call.ts";
export type { PendingBlob } from "./offload.ts";

export type ToolGate = {
  /** At once when it can: the tool's code is loaded and the policy answers at once. */
  readonly check: (call: ToolCall) => MaybePromise<CheckAnswer>;
  readonly invoke: (call: AllowedCall, options: InvokeOptions) => Promise<CallOutcome>;
};

/** Spec 4's name for it. */
export type IToolExecutor = ToolGate;

export type ToolGateDeps = {
  readonly registry: KnownTools;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly policy?: ToolPolicy;
  readonly costs?: CostModel;
  /** Handed to tools; without one, a tool that asks for it fails with `sandbox_unavailable`. */
  readonly sandbox?: ISandboxService;
  /** Told to tools that read files of data; none by default. */
  readonly dataRoots?: readonly string[];
  /** What these tools must not open though it lies there. */
  readonly deniedPaths?: readonly string[];
};

export function createToolGate({
  registry,
  clock,
  logger,
  policy = allowAll,
  costs = createCostModel(),
  sandbox = noSandbox,
  dataRoots = [],
  deniedPaths = [],
}: ToolGateDeps): ToolGate {
  const bodies = createToolBodies(clock);
  return {
    check: createCheck({ registry, bodies, policy, costs }),
    invoke: createInvoke({ registry, bodies, costs, clock, logger, sandbox, dataRoots, deniedPaths }),
  };
}
