import type { CallToolResult, StandardSchemaV1Sync } from "@modelcontextprotocol/client";

type ResultSchema = StandardSchemaV1Sync<unknown, CallToolResult>;

/**
 * The schema of a tool's result, which is only asked about what is not plain. Given none, the SDK asks its own twice for
 * every call, first about nothing at all to see whether there is one.
 */
export function resultSchema(full: ResultSchema): ResultSchema {
  const validate: ResultSchema["~standard"]["validate"] = (value) => {
    if (isPlainResult(value)) return { value };
    // What goes on behind a task that nobody asked for is no result.
    if (isObject(value) && "task" in value && !("content" in value))
      return { issues: [{ message: "It has no content." }] };
    return full["~standard"].validate(value);
  };
  return { "~standard": { version: 1, vendor: "ergon", validate } };
}

/** Texts, structured content, and whether it went wrong: what nearly all results are made of. */
export function isPlainResult(value: unknown): value is CallToolResult {
  if (!isObject(value) || !Array.isArray(value["content"]) || !value["content"].every(isPlainText)) return false;
  for (const key in value) {
    switch (key) {
      case "content":
        break;
      case "structuredContent":
        if (!isObject(value[key])) return false;
        break;
      case "isError":
        if (typeof value[key] !== "boolean") return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

function isPlainText(block: unknown): boolean {
  if (!isObject(block) || block["type"] !== "text" || typeof block["text"] !== "string") return false;
  return Object.keys(block).length === 2;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
