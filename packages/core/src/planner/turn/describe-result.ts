import type { Json } from "../../schema/values/json.ts";

const MAX_TEXT = 1_200;
const MAX_FIELDS = 8;
const MAX_NAMED = 5;

/** What a tool's result says, in a sentence or two: its own summary where it has one, else its names and figures. */
export function describeResult(output: Json | undefined): string {
  if (output === undefined || output === null) return "nothing";
  const told = ownSummary(output);
  return cut(told ?? valueText(output, 0));
}

/** Actions say it themselves (spec 2); other tools may. */
function ownSummary(output: Json): string | undefined {
  if (!isRecord(output)) return undefined;
  const downstream = output["dataForDownstreamPrompt"];
  if (isRecord(downstream)) {
    const summaries = Object.values(downstream).flatMap((entry) =>
      isRecord(entry) && typeof entry["dataSummary"] === "string" ? [entry["dataSummary"]] : [],
    );
    if (summaries.length > 0) return summaries.join(" ");
  }
  const chat = output["chatResponse"];
  const candidates = [output["dataSummary"], output["summary"], isRecord(chat) ? chat["message"] : undefined];
  const text = [...candidates, output["message"]].find((value) => typeof value === "string" && value.trim() !== "");
  return typeof text === "string" ? text : undefined;
}

function valueText(value: Json, depth: number): string {
  if (value === null) return "nothing";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return listText(value as readonly Json[], depth);
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  if (fields.length === 0) return "nothing";
  if (depth > 1) return nameIn(value) ?? `${String(fields.length)} fields`;
  const shown = fields.slice(0, MAX_FIELDS).map(([key, field]) => `${key}: ${valueText(field, depth + 1)}`);
  return [...shown, ...(fields.length > MAX_FIELDS ? ["…"] : [])].join(", ");
}

function listText(items: readonly Json[], depth: number): string {
  if (items.length === 0) return "none";
  const named = items.slice(0, MAX_NAMED).map((item) => nameIn(item) ?? (depth > 1 ? "…" : valueText(item, depth + 1)));
  const more = items.length > MAX_NAMED ? ` and ${String(items.length - MAX_NAMED)} more` : "";
  return `${named.join("; ")}${more}`;
}

function nameIn(value: Json): string | undefined {
  if (!isRecord(value)) return undefined;
  const name = ["title", "name", "label", "id"].map((key) => value[key]).find((found) => typeof found === "string");
  return typeof name === "string" ? name : undefined;
}

function isRecord(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
