import { sha256Hex } from "@ergon/core/schema";

/** Clients take no longer names, and only letters, digits, "_" and "-". */
export const MAX_TOOL_NAME = 64;
const HASH_DIGITS = 8;

/** The tool name of a plan. What has to be changed to fit gets a hash of the whole id, so that no two plans share one. */
export function planToolName(planId: string): string {
  const name = `plan_${planId}`;
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  if (plain === name && name.length <= MAX_TOOL_NAME) return name;
  const hash = sha256Hex(planId).slice(0, HASH_DIGITS);
  return `${plain.slice(0, MAX_TOOL_NAME - HASH_DIGITS - 1)}_${hash}`;
}
