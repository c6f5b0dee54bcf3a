import { errorValue } from "../../errors/ergon-error.ts";
import { gateError } from "../../errors/gate.ts";
import { usageError } from "../../errors/usage.ts";
import type { CostModel } from "../../energy/cost-model.ts";
import { canonicalJson, createTextHashes } from "../../schema/values/hash.ts";
import { copyJson, jsonProblem, type JsonObject } from "../../schema/values/json.ts";
import { infrastructureIn, infrastructureInDefaults } from "../adapt/infrastructure.ts";
import { errorFrom } from "./call-failure.ts";
import type { AllowedCall, CallNeedingApproval, CheckAnswer, DeniedCall, ToolCall } from "./call.ts";
import { callProblem } from "./call-problem.ts";
import { MAX_ISSUES } from "../issues.ts";
import { offloadText } from "./offload.ts";
import type { PolicyAnswer, ToolPolicy } from "./policy.ts";
import { DEFAULT_ROLE, isForRole, toolNotFound, type KnownTools } from "../known-tools.ts";
import type { ToolBodies } from "../tool-bodies.ts";
import type { Issue, MaybePromise, Tool, ToolArgs, ToolBody } from "../tool.ts";

/** Args whose JSON is longer than this are refused; what is larger goes through a blob. */
export const MAX_ARGS_LENGTH = 64 * 1024 * 1024;
/** A message names this many issues; the details hold them all. */
const ISSUES_IN_MESSAGE = 20;

export type CheckDeps = {
  readonly registry: KnownTools;
  readonly bodies: ToolBodies;
  readonly policy: ToolPolicy;
  readonly costs: CostModel;
};

/**
 * Phase one of the gate, in the order in which it asks. It answers at once unless the tool's code is still to be loaded
 * or the policy takes its time. Bad input is an answer, never an exception.
 */
export function createCheck(deps: CheckDeps): (call: ToolCall) => MaybePromise<CheckAnswer> {
  const hashOf = createTextHashes();
  return (call) => {
    try {
      const problem = callProblem(call);
      if (problem !== undefined) return denied(usageError("input_invalid", `This is no call of a tool: ${problem}.`));
      const tool = deps.registry.get(call.toolId);
      if (tool === undefined) return denied(toolNotFound(call.toolId, deps.registry));
      if (!isForRole(tool, call.caller.role)) return denied(roleDenied(tool, call));
      const missing = missingContext(tool, call);
      if (missing.length > 0) return denied(contextMissing(tool, missing));
      const body = deps.bodies.bodyOf(tool);
      if (!(body instanceof Promise)) return withBody(tool, body, call);
      return body.then((ready) => withBody(tool, ready, call)).catch(deniedBy);
    } catch (thrown) {
      return deniedBy(thrown);
    }
  };

  function withBody(tool: Tool, body: ToolBody, call: ToolCall): MaybePromise<CheckAnswer> {
    const args = mergedArgs(tool, body, call);
    const notJson = jsonProblem(args, { undefinedIsAbsent: true });
    if (notJson !== undefined) return denied(argsInvalid(tool, [notJsonIssue(notJson)]));
    const validated = body.validateArgs(args);
    if (!validated.ok) return denied(argsInvalid(tool, validated.issues));
    if (body.validatesAtCall === true || validated.value === args) return withArgs(tool, call, args);
    const madeOdd = jsonProblem(validated.value, { undefinedIsAbsent: true });
    if (madeOdd !== undefined) return denied(argsInvalid(tool, [notJsonIssue(madeOdd)]));
    return withArgs(tool, call, validated.value);
  }

  function withArgs(tool: Tool, call: ToolCall, args: ToolArgs): MaybePromise<CheckAnswer> {
    const resolvedArgs = copyJson(args as JsonObject);
    const text = canonicalJson(resolvedArgs);
    if (text.length > MAX_ARGS_LENGTH) return denied(argsInvalid(tool, [tooLargeIssue(text.length)]));
    const { blob } = offloadText(resolvedArgs, text);
    const timeoutMs = call.timeoutMs ?? tool.timeoutMs;
    const allowed: AllowedCall = {
      kind: "allowed",
      toolId: tool.id,
      owner: call.caller.owner,
      resolvedArgs,
      argsHash: blob?.ref.$blob ?? hashOf(text),
      effects: tool.effects,
      reservedUnits: deps.costs.estimateTool(tool),
      ...(tool.hub === undefined ? {} : { fingerprint: tool.hub.fingerprint }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(blob === undefined ? {} : { requestBlob: blob }),
    };
    const answer = askPolicy(tool, call, allowed);
    if (answer instanceof Promise) return answer.then((said) => decide(tool, call, allowed, said)).catch(deniedBy);
    return decide(tool, call, allowed, answer);
  }

  function askPolicy(tool: Tool, call: ToolCall, allowed: AllowedCall): MaybePromise<PolicyAnswer> {
    const { resolvedArgs: args, argsHash, reservedUnits: estimatedUnits } = allowed;
    const question = { tool, args, argsHash, caller: call.caller, estimatedUnits };
    try {
      const answer = deps.policy(call.sessionId === undefined ? question : { ...question, sessionId: call.sessionId });
      return answer instanceof Promise ? answer.catch(policyFailed) : answer;
    } catch (thrown) {
      return policyFailed(thrown);
    }
  }
}

/** A policy that cannot answer has not said yes. */
function policyFailed(thrown: unknown): PolicyAnswer {
  return {
    kind: "deny",
    reason: errorFrom(thrown, (reason) => errorValue("", `the policy failed: ${reason}`)).message,
  };
}

/** The policy's answer, then the budget. Nobody is asked to approve what the session could not pay for. */
function decide(tool: Tool, call: ToolCall, allowed: AllowedCall, answer: PolicyAnswer): CheckAnswer {
  if (answer?.kind !== "allow" && answer?.kind !== "needs_approval") return denied(policyDenied(tool, answer?.reason));
  const remaining = call.energy?.remaining;
  if (remaining !== undefined && allowed.reservedUnits > Math.max(0, remaining)) {
    return denied(energyExhausted(tool, allowed.reservedUnits, remaining));
  }
  if (answer.kind === "allow" || call.caller.approved === true) return allowed;
  const { reason, fingerprint, changes } = answer;
  const waiting: CallNeedingApproval = {
    ...allowed,
    kind: "needs_approval",
    reason,
    ...(fingerprint === undefined ? {} : { boundTo: fingerprint }),
    ...(changes === undefined || changes.length === 0 ? {} : { changes }),
  };
  return waiting;
}

function mergedArgs(tool: Tool, body: ToolBody, call: ToolCall): ToolArgs {
  if (body.defaultArgs === undefined) return call.args;
  let defaults: unknown;
  try {
    defaults = body.defaultArgs(call.context ?? {});
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "it threw a value that is no Error";
    throw gateError("tool_failed", `getDefaultArgs of "${tool.id}" failed: ${reason}`, { cause });
  }
  if (defaults === undefined || defaults === null) return call.args;
  if (typeof defaults !== "object") {
    throw gateError(
      "tool_failed",
      `getDefaultArgs of "${tool.id}" returned a ${typeof defaults}, not an object of args.`,
    );
  }
  const infrastructure = infrastructureIn(defaults as ToolArgs);
  if (infrastructure.length > 0) throw infrastructureInDefaults(`The action "${tool.id}"`, infrastructure);
  const merged: Record<string, unknown> = { ...defaults };
  for (const [key, value] of Object.entries(call.args)) {
    if (value !== undefined)
      Object.defineProperty(merged, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return merged;
}

function missingContext(tool: Tool, call: ToolCall): readonly string[] {
  if (tool.requiredContext.length === 0) return tool.requiredContext;
  const context = call.context ?? {};
  return tool.requiredContext.filter((key) => {
    // The session's id is infrastructure, and as such there whenever there is a session.
    if (key === "sessionId" && call.sessionId !== undefined) return false;
    return !Object.hasOwn(context, key) || context[key] === undefined || context[key] === null;
  });
}

function denied(error: { toJSON(): DeniedCall["error"] }): DeniedCall {
  return { kind: "denied", error: error.toJSON() };
}

/** Whatever was thrown on the way is why the call is denied. */
function deniedBy(thrown: unknown): DeniedCall {
  const error = errorFrom(thrown, (reason) => errorValue("input_invalid", `The call could not be checked: ${reason}`));
  return { kind: "denied", error };
}

function roleDenied(tool: Tool, call: ToolCall): ReturnType<typeof gateError> {
  const role = call.caller.role ?? DEFAULT_ROLE;
  const roles = tool.applicableRoles;
  const message = `"${tool.id}" is not for the role "${role}"; it is for ${roles.join(", ")}.`;
  return gateError("role_denied", message, { details: { toolId: tool.id, role, applicableRoles: roles } });
}

function contextMissing(tool: Tool, missing: readonly string[]): ReturnType<typeof gateError> {
  const listed = missing.map((key) => `"${key}"`).join(", ");
  const message = `"${tool.id}" needs ${listed} in the session's context.`;
  return gateError("context_missing", message, { details: { toolId: tool.id, missing } });
}

export function argsInvalid(tool: Tool, found: readonly Issue[]): ReturnType<typeof gateError> {
  const issues = found.slice(0, MAX_ISSUES);
  const named = issues
    .slice(0, ISSUES_IN_MESSAGE)
    .map(({ path, message }) => (path === "" ? message : `${path.slice(1)}: ${message}`));
  const more = found.length > named.length ? ` (and ${String(found.length - named.length)} more)` : "";
  const message = `The arguments of "${tool.id}" are not valid: ${named.join(" ")}${more}`;
  return gateError("args_invalid", message, { details: { toolId: tool.id, issues } });
}

function policyDenied(tool: Tool, reason: unknown): ReturnType<typeof gateError> {
  const why = typeof reason === "string" && reason !== "" ? reason : "the policy gave no reason";
  return gateError("approval_denied", `"${tool.id}" may not be called: ${why}`, { details: { toolId: tool.id } });
}

function energyExhausted(tool: Tool, units: number, remaining: number): ReturnType<typeof gateError> {
  const message = `"${tool.id}" is expected to cost ${String(units)} units of energy; the session has ${String(remaining)} left.`;
  return gateError("energy_exhausted", message, { details: { toolId: tool.id, units, remaining } });
}

function notJsonIssue(problem: string): Issue {
  return { path: "", code: "not_json", message: `Arguments are JSON; these hold ${problem}.` };
}

function tooLargeIssue(length: number): Issue {
  const limit = String(MAX_ARGS_LENGTH);
  return { path: "", code: "too_large", message: `They have ${String(length)} characters; ${limit} is the limit.` };
}
