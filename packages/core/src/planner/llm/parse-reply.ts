import { z } from "zod";
import { pointerTo } from "../../schema/json.ts";
import type { PlannedAction } from "../../schema/mcp-loop.ts";
import { ActionDraft } from "../read-plan.ts";
import { jsonIn } from "./json-in.ts";

export type ParsedReply =
  | { readonly ok: true; readonly plan: readonly PlannedAction[] }
  | { readonly ok: false; readonly issues: readonly string[] };

/** A reply longer than this is no plan. */
export const MAX_REPLY_CHARS = 200_000;

/** Reads a plan from what a model wrote: bare JSON, JSON in a fence, or JSON with prose around it. */
export function parseReply(text: string): ParsedReply {
  if (text.length > MAX_REPLY_CHARS) return { ok: false, issues: ["The answer is far too long for a plan."] };
  // A plan is an array, or an object that holds one.
  const found = jsonIn(text, (value) => unwrapped(value) !== undefined);
  if (found === undefined) return { ok: false, issues: ["The answer holds no JSON array."] };
  const list = unwrapped(found.value);
  if (list === undefined) return { ok: false, issues: ["The answer is JSON, but no array of tool calls."] };
  const parsed = Plan.safeParse(list.map(renamed));
  if (parsed.success) return { ok: true, plan: parsed.data };
  const issues = parsed.error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => `${pointerTo(path)}: ${message}`);
  return { ok: false, issues };
}

const Plan = z.array(ActionDraft);
const MAX_ISSUES = 20;
const WRAPPERS = ["steps", "plan", "actions", "tools", "tool_calls"];

function unwrapped(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value.every(isRecord) ? value : undefined;
  if (!isRecord(value)) return undefined;
  for (const key of WRAPPERS) if (Array.isArray(value[key])) return value[key] as readonly unknown[];
  return "tool" in value ? [value] : undefined;
}

/** Names that models use for the same thing; a null stands for "nothing to say". */
function renamed(entry: unknown): unknown {
  if (!isRecord(entry)) return entry;
  const { tool = entry["tool_id"] ?? entry["name"], args = entry["arguments"] ?? entry["parameters"] ?? {} } = entry;
  const { reason, announcement } = entry;
  return {
    tool,
    args: args ?? {},
    ...(typeof reason === "string" ? { reason } : {}),
    ...(typeof announcement === "string" ? { announcement } : {}),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
