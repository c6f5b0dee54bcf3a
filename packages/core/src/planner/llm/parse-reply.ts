import { z } from "zod";
import type { ChatReply } from "../../ports/chat-model.ts";
import { pointerTo } from "../../schema/values/json.ts";
import type { PlannedAction } from "../../schema/mcp-loop.ts";
import { ActionDraft } from "../read-plan.ts";
import { jsonIn } from "./json-in.ts";

export type ParsedReply =
  | { readonly ok: true; readonly plan: readonly PlannedAction[] }
  | { readonly ok: false; readonly issues: readonly string[] };

/** A reply longer than this is no plan. */
export const MAX_REPLY_CHARS = 200_000;

/** Reads a plan from what a model wrote: bare JSON, JSON in a fence, or JSON with prose around it. */
export function parseReply({ text, truncated }: Pick<ChatReply, "text" | "truncated">): ParsedReply {
  if (truncated)
    return unusable("The answer was cut off at the length limit: plan fewer tools, or say less about each.");
  if (text.length > MAX_REPLY_CHARS) return unusable("The answer is far too long for a plan.");
  const { values, isBroken } = jsonIn(text);
  // A plan is an array, or an object that holds one. Of several the last counts: those before it were drafts.
  const list = values.map(listIn).findLast((found) => found !== undefined) ?? singleCall(values);
  if (list === undefined) return unusable(isBroken ? "The JSON of the answer is cut off or damaged." : NO_PLAN);
  const parsed = Plan.safeParse(list.map(renamed));
  if (parsed.success) return { ok: true, plan: parsed.data };
  const issues = parsed.error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => `${pointerTo(path)}: ${message}`);
  return { ok: false, issues };
}

const NO_PLAN = "The answer holds no JSON array of tool calls.";

function unusable(issue: string): ParsedReply {
  return { ok: false, issues: [issue] };
}

const Plan = z.array(ActionDraft);
const MAX_ISSUES = 20;
const WRAPPERS = ["steps", "plan", "actions", "tools", "tool_calls"];

function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value.every(isRecord) ? value : undefined;
  if (!isRecord(value)) return undefined;
  return WRAPPERS.map((key) => value[key]).find((list): list is unknown[] => Array.isArray(list));
}

/** One call without an array around it. Of several, which of them are meant is not known. */
function singleCall(values: readonly unknown[]): readonly unknown[] | undefined {
  const calls = values.filter((value) => isRecord(value) && "tool" in value);
  return calls.length === 1 ? calls : undefined;
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
