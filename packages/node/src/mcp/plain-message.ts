import type { JSONRPCMessage } from "@modelcontextprotocol/client";

/**
 * Whether this is plainly a JSON-RPC request, notification or result. The SDK looks at every message again before it acts
 * on it, so a schema is only asked about what is not plain: asking it of each one takes longer than reading it.
 */
export function isPlainMessage(value: unknown): value is JSONRPCMessage {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return false;
  const isRequest = "method" in value;
  for (const key in value) {
    switch (key) {
      case "jsonrpc":
        break;
      case "id":
        if (typeof value[key] !== "string" && !Number.isSafeInteger(value[key])) return false;
        break;
      case "method":
        if (typeof value[key] !== "string") return false;
        break;
      case "params":
        if (!isRequest || !isPlainBody(value[key])) return false;
        break;
      case "result":
        if (isRequest || value["id"] === undefined || !isPlainBody(value[key])) return false;
        break;
      default:
        return false;
    }
  }
  return isRequest || "result" in value;
}

/** What the protocol itself reads of parameters and results is in `_meta`; tokens and the like are the schema's to judge. */
function isPlainBody(value: unknown): boolean {
  if (!isObject(value)) return false;
  const meta = value["_meta"];
  if (meta === undefined) return !("_meta" in value);
  if (!isObject(meta) || RELATED_TASK in meta) return false;
  const token = meta["progressToken"];
  return !("progressToken" in meta) || typeof token === "string" || Number.isSafeInteger(token);
}

const RELATED_TASK = "io.modelcontextprotocol/related-task";

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
