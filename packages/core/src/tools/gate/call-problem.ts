import { MAX_TIMEOUT_MS } from "../../schema/plan.ts";
import { CALLER_KINDS } from "./call.ts";

/** Says why a value is no `ToolCall`, or undefined when it is one. Args and context have their own checks. */
export function callProblem(call: unknown): string | undefined {
  if (!isRecord(call)) return "it is not an object";
  const { toolId, args, caller, sessionId, energy, timeoutMs } = call;
  if (typeof toolId !== "string") return "its toolId is not a string";
  if (!isRecord(args)) return "its args are not an object";
  if (!isRecord(caller)) return "it has no caller";
  if (!CALLER_KINDS.some((kind) => kind === caller["kind"]))
    return `its caller's kind is none of ${CALLER_KINDS.join(", ")}`;
  if (typeof caller["owner"] !== "string") return "its caller has no owner";
  if (caller["role"] !== undefined && typeof caller["role"] !== "string") return "its caller's role is not a string";
  if (caller["approved"] !== undefined && typeof caller["approved"] !== "boolean")
    return "its caller's approved is not a boolean";
  if (sessionId !== undefined && typeof sessionId !== "string") return "its sessionId is not a string";
  if (energy !== undefined && !isBudget(energy)) return "its energy is not {remaining?: number}";
  if (timeoutMs !== undefined && !isTimeout(timeoutMs))
    return `its timeoutMs is not a whole number from 1 to ${String(MAX_TIMEOUT_MS)}`;
  return undefined;
}

function isBudget(energy: unknown): boolean {
  return isRecord(energy) && (energy["remaining"] === undefined || Number.isFinite(energy["remaining"]));
}

function isTimeout(timeoutMs: unknown): boolean {
  return Number.isInteger(timeoutMs) && Number(timeoutMs) >= 1 && Number(timeoutMs) <= MAX_TIMEOUT_MS;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
