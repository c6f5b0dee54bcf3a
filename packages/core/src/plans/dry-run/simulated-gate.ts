import { gateError } from "../../errors/gate.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Json, JsonSchema } from "../../schema/values/json.ts";
import { outcomeWithRows } from "../../tools/gate/call-outcome.ts";
import type { AllowedCall, CallOutcome } from "../../tools/gate/call.ts";
import type { ToolGate } from "../../tools/gate/gate.ts";
import { sampleValue } from "../../tools/json-schema/sample-value.ts";
import { offload } from "../../tools/gate/offload.ts";
import type { ToolRegistry } from "../../tools/registry.ts";

/** What a tool gives could not be made up: that says nothing about the tool. */
export const NO_SAMPLE = "output_invalid";

/**
 * A gate that checks calls like the real one and makes none: what a call gives is made from its tool's output schema.
 * What needs a person's approval is allowed, and noted.
 */
export function createSimulatedGate(parts: {
  readonly gate: ToolGate;
  readonly registry: Pick<ToolRegistry, "get">;
  readonly clock: Clock;
  /** Told of every call that would be made, and why a person would be asked first; false holds it until it is stopped. */
  readonly note: (idempotencyKey: string, toolId: string, approval: string | undefined) => boolean;
}): ToolGate {
  const { gate, registry, clock, note } = parts;
  const approvals = new WeakMap<AllowedCall, string>();
  const samples = new Map<JsonSchema, Promise<{ readonly value: Json } | undefined>>();

  const sampleOf = (schema: JsonSchema): Promise<{ readonly value: Json } | undefined> => {
    const known = samples.get(schema) ?? sampleValue(schema);
    samples.set(schema, known);
    return known;
  };

  return {
    check: async (asked) => {
      const answer = await gate.check(asked);
      if (answer.kind !== "needs_approval") return answer;
      const { reason, ...call } = answer;
      const allowed: AllowedCall = { ...call, kind: "allowed" };
      approvals.set(allowed, reason);
      return allowed;
    },
    invoke: async (call, { idempotencyKey, signal }): Promise<CallOutcome> => {
      const { toolId } = call;
      const goesOn = note(idempotencyKey, toolId, approvals.get(call));
      // Nothing here waits for anything: others must get their turn between two calls.
      await (goesOn ? clock.sleep(0, signal) : aborted(signal));
      const schema = registry.get(toolId)?.outputSchema;
      const sample = schema === undefined ? { value: null } : await sampleOf(schema);
      const spent = { toolId, idempotencyKey, durationMs: 0, energyUnits: call.reservedUnits };
      if (sample !== undefined) return outcomeWithRows(clock, { output: offload(sample.value) }, spent);
      const message = `No example could be made for what "${toolId}" gives; put one under "examples" in its output schema.`;
      return outcomeWithRows(clock, { error: gateError(NO_SAMPLE, message).toJSON() }, spent);
    },
  };
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal === undefined || signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
