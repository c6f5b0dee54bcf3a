import type { AgenticPlan, ToolCallStep } from "../schema/plan.ts";
import type { Json, JsonObject } from "../schema/values/json.ts";
import type { CompiledPlan } from "./compiled-plan.ts";

const CALL = "call";
const HASH_PREFIX = `${CALL}:`;

/** What a session of a single call has in place of a plan's hash: no hash of a plan contains a colon. */
export function callHash(toolId: string): string {
  return HASH_PREFIX + toolId;
}

/** The tool that a session calls; undefined when the session runs a plan. */
export function calledTool(hash: string): string | undefined {
  return hash.startsWith(HASH_PREFIX) ? hash.slice(HASH_PREFIX.length) : undefined;
}

/**
 * The built-in step of a session that calls one tool. It is not stored: the session's input holds the arguments, which
 * are values and never pointers. `input` is the same as the store has it, a blob where it is large.
 */
export function singleCall(toolId: string, args: JsonObject, input: Json): CompiledPlan {
  const step: ToolCallStep = { id: CALL, type: "tool_call", toolId, arguments: input as JsonObject, onError: "fail" };
  const plan: AgenticPlan = {
    planId: CALL,
    description: `Calls ${toolId}.`,
    parameters: { type: "object" },
    startStepId: CALL,
    steps: [step],
  };
  return {
    plan,
    steps: new Map([[CALL, step]]),
    dataOf: () => ({ kind: "arguments", template: { kind: "literal", value: args } }),
    savedKeys: () => [],
  };
}
