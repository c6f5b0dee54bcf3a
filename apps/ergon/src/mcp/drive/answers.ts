import { type Json, toErgonError } from "@ergon/core";
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";

/** A tool's answer: the same JSON for programs and, as text, for models; clients differ in which of them they show. */
export function answer(structured: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(structured) }], structuredContent: { ...structured } };
}

/** What went wrong, in the same two forms. Of an error that we did not foresee only the logs say more. */
export function failure(thrown: unknown, debug: boolean): CallToolResult {
  const { code, message, retryable, details, stack, cause } = toErgonError(thrown, "internal");
  const foreseen = code !== "internal";
  const origin = cause instanceof Error ? cause.stack : undefined;
  const said = {
    ...details,
    code,
    message: foreseen || debug ? message : "Something went wrong inside Ergon. Its log has more.",
    ...(retryable ? { retryable } : {}),
    ...(debug ? { stack: origin ?? stack ?? "" } : {}),
  };
  return { ...answer(said), isError: true };
}

const FAILURE: Json = {
  type: "object",
  properties: {
    code: { type: "string" },
    message: { type: "string" },
    retryable: { type: "boolean" },
  },
  required: ["code", "message"],
};

/** An output schema that failures fit too: some clients check them, and would show a mismatch instead of the failure. */
export function outputSchema(success: unknown): Tool["outputSchema"] {
  return { type: "object", anyOf: [success, FAILURE] };
}
