import { jsonIn } from "../../planner/llm/json-in.ts";
import { ActionDraft } from "../../planner/read-plan.ts";
import type { PlannedAction } from "../../schema/mcp-loop.ts";

export type ModelChoice =
  | { readonly kind: "call"; readonly action: PlannedAction }
  /** Words instead of a call: an answer is what they are. */
  | { readonly kind: "words"; readonly text: string }
  | { readonly kind: "unreadable"; readonly why: string };

/** Reads what a model wants next: one call as JSON, bare, fenced or with prose around it; else plain words. */
export function readChoice(text: string): ModelChoice {
  const { values, isBroken } = jsonIn(text);
  const call = values.map(callIn).find((found) => found !== undefined);
  if (call === undefined) {
    const words = text.trim();
    // What was meant as a call and broke off must not be said to a person.
    if (isBroken || /^(```\w*\s*)?[[{]/.test(words))
      return { kind: "unreadable", why: "The answer is no whole JSON object." };
    return words === "" ? { kind: "unreadable", why: "The answer is empty." } : { kind: "words", text: words };
  }
  const parsed = ActionDraft.safeParse(call);
  if (parsed.success) return { kind: "call", action: parsed.data };
  const [issue] = parsed.error.issues;
  return { kind: "unreadable", why: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "it cannot be read"}` };
}

/** Some models wrap the call in a list, or name its parts otherwise. */
function callIn(value: unknown): unknown {
  const [first] = Array.isArray(value) ? (value as unknown[]) : [value];
  if (typeof first !== "object" || first === null) return undefined;
  const entry = first as Readonly<Record<string, unknown>>;
  const tool = entry["tool"] ?? entry["tool_id"] ?? entry["name"];
  if (typeof tool !== "string") return undefined;
  return { tool, args: entry["args"] ?? entry["arguments"] ?? entry["parameters"] ?? {} };
}
