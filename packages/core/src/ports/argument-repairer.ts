import type { ErrorRecord } from "../schema/error.ts";
import type { JsonObject, JsonSchema } from "../schema/values/json.ts";

/**
 * Finds arguments that a tool will take, where those it was given are refused. What it answers is only a suggestion: the
 * gate checks it before it is proposed.
 *
 * A1  Its request stays as it is.
 * A2  It answers undefined when it has nothing better; an answer is a JSON object.
 */
export type ArgumentRepairer = {
  repair(request: ArgumentRepair): Promise<JsonObject | undefined>;
};

export type ArgumentRepair = {
  readonly toolId: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly args: JsonObject;
  readonly error: ErrorRecord;
  readonly signal: AbortSignal;
};
