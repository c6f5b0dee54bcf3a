import { gateError } from "../../errors/gate.ts";
import { jsonProblem, type Json } from "../../schema/values/json.ts";
import { MAX_ISSUES } from "../issues.ts";
import { offloadText, type Offloaded } from "./offload.ts";
import type { Issue, Tool, ToolBody } from "../tool.ts";

/** An output whose JSON is longer than this is refused; a tool with more to say returns a reference to it. */
export const MAX_OUTPUT_LENGTH = 64 * 1024 * 1024;

/**
 * What a tool returned, as plain JSON that shares nothing with the tool's own objects; large values as a blob. Nothing
 * at all counts as null. Throws `output_invalid`.
 */
export function outputOf(tool: Tool, body: ToolBody, returned: unknown): Offloaded {
  const text = jsonText(tool, returned ?? null);
  if (body.validateOutput === undefined) return kept(returned, text);
  const plain: unknown = JSON.parse(text);
  const validated = body.validateOutput(plain);
  if (!validated.ok) throw invalid(tool, validated.issues);
  if (validated.value === plain) return offloadText(plain as Json, text);
  const { value } = validated;
  return kept(value, jsonText(tool, value ?? null));
}

function kept(value: unknown, text: string): Offloaded {
  if (typeof value !== "object" || value === null) return offloadText((value ?? null) as Json, text);
  const { blob, value: reference } = offloadText(null, text);
  return blob === undefined ? { value: JSON.parse(text) as Json } : { value: reference, blob };
}

function jsonText(tool: Tool, value: unknown): string {
  const problem = jsonProblem(value, { undefinedIsAbsent: true });
  if (problem !== undefined)
    throw invalid(tool, [{ path: "", code: "not_json", message: `A result is JSON; this holds ${problem}.` }]);
  const text = stringified(value);
  if (text !== undefined && text.length <= MAX_OUTPUT_LENGTH) return text;
  const message = `It is longer than ${String(MAX_OUTPUT_LENGTH)} characters of JSON.`;
  throw invalid(tool, [{ path: "", code: "too_large", message }]);
}

/** Undefined when the text would be longer than a string can be. */
function stringified(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function invalid(tool: Tool, found: readonly Issue[]): ReturnType<typeof gateError> {
  const issues = found.slice(0, MAX_ISSUES);
  const named = issues
    .slice(0, 20)
    .map(({ path, message }) => (path === "" ? message : `${path.slice(1)}: ${message}`));
  const message = `The result of "${tool.id}" is not valid: ${named.join(" ")}`;
  return gateError("output_invalid", message, { details: { toolId: tool.id, issues } });
}
