import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { Json, JsonObject } from "./json.ts";

/** Synchronous and the same on every runtime: WebCrypto's digest is neither. Text counts as its UTF-8 bytes. */
export function sha256Hex(content: string | Uint8Array): string {
  return bytesToHex(sha256(typeof content === "string" ? encoder.encode(content) : content));
}

/** Hashes of the texts that were asked for last: plans call tools with the same arguments again and again. */
export function createTextHashes(): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    if (text.length > MAX_KNOWN_CHARS) return sha256Hex(text);
    let hash = known.get(text);
    if (hash === undefined) {
      hash = sha256Hex(text);
      if (known.size >= MAX_KNOWN_HASHES) known.clear();
      known.set(text, hash);
    }
    return hash;
  };
}

export const MAX_KNOWN_HASHES = 256;
export const MAX_KNOWN_CHARS = 1_024;

/**
 * One text per JSON value, whatever the order of its keys (RFC 8785's rules), so that equal values have equal hashes.
 * Fields that are undefined count as absent. Depth must be bounded by the caller, see `jsonProblem`.
 */
export function canonicalJson(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  return isArray(value) ? canonicalArray(value) : canonicalObject(value);
}

const encoder = new TextEncoder();

function canonicalArray(items: readonly Json[]): string {
  let text = "[";
  for (let index = 0; index < items.length; index += 1) {
    if (index > 0) text += ",";
    text += canonicalJson(items[index] ?? null);
  }
  return `${text}]`;
}

function canonicalObject(value: JsonObject): string {
  let text = "{";
  for (const key of Object.keys(value).sort()) {
    const field = value[key];
    if (field === undefined) continue;
    if (text.length > 1) text += ",";
    text += `${JSON.stringify(key)}:${canonicalJson(field)}`;
  }
  return `${text}}`;
}

// Array.isArray does not narrow a readonly array away from an object type.
function isArray(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
