import { z } from "zod";
import { pointerTo } from "../../schema/json.ts";
import type { PlannedAction } from "../../schema/mcp-loop.ts";
import { ActionDraft } from "../read-plan.ts";

export type ParsedReply =
  | { readonly ok: true; readonly plan: readonly PlannedAction[] }
  | { readonly ok: false; readonly issues: readonly string[] };

/** A reply longer than this is no plan. */
export const MAX_REPLY_CHARS = 200_000;

/** Reads a plan from what a model wrote: bare JSON, JSON in a fence, or JSON with prose around it. */
export function parseReply(text: string): ParsedReply {
  if (text.length > MAX_REPLY_CHARS) return { ok: false, issues: ["The answer is far too long for a plan."] };
  const found = firstJson(text);
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
/** Places where JSON may begin that are tried before giving up. */
const MAX_STARTS = 50;

function firstJson(text: string): { readonly value: unknown } | undefined {
  let tries = 0;
  for (let at = text.search(/[[{]/); at >= 0 && tries < MAX_STARTS; tries += 1) {
    const end = closingOf(text, at);
    const value = end === undefined ? undefined : parsed(text.slice(at, end));
    // Prose has brackets too; a plan is an array, or an object that holds one.
    if (value !== undefined && unwrapped(value.value) !== undefined) return value;
    const next = text.slice(at + 1).search(/[[{]/);
    at = next < 0 ? -1 : at + 1 + next;
  }
  return undefined;
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Just past the bracket that closes the one at `start`; brackets within strings do not count. */
function closingOf(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (inString) {
      if (char === "\\") at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "[" || char === "{") depth += 1;
    else if (char === "]" || char === "}") {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

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
