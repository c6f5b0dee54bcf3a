import type { Json, JsonObject } from "../schema/values/json.ts";
import { MAX_KEY_CHARS, redactSecrets } from "../schema/values/redact.ts";

/** What a model takes in one request, in tokens. A model that is not listed is taken for a small one. */
const WINDOWS: readonly (readonly [pattern: RegExp, tokens: number])[] = [
  [/gpt-4\.1|gemini/i, 1_000_000],
  [/claude/i, 200_000],
  [/gpt-5/i, 272_000],
  [/gpt-4o|o[134](-|$)|gpt-4-turbo/i, 128_000],
];
const SMALLEST_WINDOW = 8_000;
/** Even where a window is larger: what a prompt does not need, nobody should pay for. */
const MAX_PROMPT_TOKENS = 24_000;
/** Characters of a person's text that a prompt shows. */
export const MAX_USER_TEXT = 20_000;
/** Roughly; counted high, so that a budget holds whatever the text is. */
const CHARS_PER_TOKEN = 3;
/** From the first limits down to one item and twenty characters. */
const MAX_ROUNDS = 16;

export type SafePromptInput = {
  readonly system: string;
  readonly instructions: string;
  /** What a person wrote: shown as data, never as instructions. */
  readonly userText?: string;
  /** What the model may see. Whatever is internal is not passed in here. */
  readonly context?: JsonObject;
  readonly model?: string;
  readonly maxOutputTokens?: number;
  readonly maxPromptTokens?: number;
};

export type SafePrompt = {
  readonly system: string;
  readonly user: string;
  readonly estimatedTokens: number;
  /** What was cut to fit, with sizes; empty when nothing was. */
  readonly truncated: readonly Truncation[];
};

export type Truncation = { readonly path: string; readonly from: number; readonly to: number };

/**
 * A prompt that keeps to its model's budget, and in which data cannot pass for instructions: lines that begin like a
 * speaker's turn lose that beginning, fences are closed off, secrets are out. Text of any language stays.
 */
export function buildSafePrompt(input: SafePromptInput): SafePrompt {
  const budget = budgetOf(input);
  const truncated: Truncation[] = [];
  const userText = cutText(input.userText ?? "", Math.min(MAX_USER_TEXT, budget), "userText", truncated);
  const fixed = input.system.length + input.instructions.length + userText.length;
  const context = input.context === undefined ? "" : fitted(input.context, Math.max(0, budget - fixed), truncated);
  const user = [
    input.instructions,
    ...(userText === "" ? [] : [`<message>\n${userText}\n</message>`]),
    ...(context === "" ? [] : [`<data>\n${context}\n</data>`]),
  ].join("\n\n");
  return {
    system: input.system,
    user,
    estimatedTokens: Math.ceil((input.system.length + user.length) / CHARS_PER_TOKEN),
    truncated,
  };
}

/** What a prompt for this model may have, in characters. */
export function promptBudget(model: string, maxOutputTokens = 0): number {
  return budgetOf({ model, maxOutputTokens });
}

function budgetOf({
  model = "",
  maxOutputTokens = 0,
  maxPromptTokens = MAX_PROMPT_TOKENS,
}: Pick<SafePromptInput, "model" | "maxOutputTokens" | "maxPromptTokens">): number {
  const window = WINDOWS.find(([pattern]) => pattern.test(model))?.[1] ?? SMALLEST_WINDOW;
  return Math.max(500, Math.min(window - maxOutputTokens, maxPromptTokens)) * CHARS_PER_TOKEN;
}

/** A word whatever invisible characters stand in it: a model reads it all the same. */
function seen(words: readonly string[]): string {
  return `(?:${words.map((word) => word.split("").join(INVISIBLE)).join("|")})`;
}

const INVISIBLE = "\\p{Cf}*";
const SPACES = "[\\s\\p{Cf}]{0,20}";
const ROLE_PREFIX = new RegExp(
  `^[ \\t>#*\\p{Cf}-]*${seen(["system", "assistant", "user", "developer", "human", "ai", "tool"])}[ \\t\\p{Cf}]*[:：][ \\t]*`,
  "gimu",
);
const TURN_TOKENS = new RegExp(
  `<\\|[^|>\\n]{1,40}\\|>|\\[/?INST\\]|<${SPACES}/?${SPACES}${seen(["message", "data", "system", "assistant", "user"])}(?:\\s[^<>]{0,80})?${SPACES}/?>`,
  "giu",
);

/** Text that cannot pass for a turn of the conversation, nor for the end of the block that it stands in. */
export function cleanText(text: string): string {
  return redactSecrets(text)
    .replaceAll(TURN_TOKENS, " ")
    .replaceAll(ROLE_PREFIX, "")
    .replaceAll("```", "'''")
    .replaceAll(CONTROL, "")
    .trim();
}

/** Control characters, but not tabs and line ends. */
const CONTROL = /(?![\t\n\r])\p{Cc}/gu;

/** Lists are shortened first, then texts, round by round, until the JSON fits. */
function fitted(context: JsonObject, budget: number, truncated: Truncation[]): string {
  let limits = { items: 1_600, chars: 64_000 };
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const cuts: Truncation[] = [];
    const text = lines(shrunk(context, "", limits, cuts) as JsonObject);
    if (text.length <= budget) {
      truncated.push(...cuts);
      return text;
    }
    limits = { items: Math.max(1, Math.floor(limits.items / 2)), chars: Math.max(20, Math.floor(limits.chars / 2)) };
  }
  const whole = JSON.stringify(shrunk(context, "", limits, []));
  truncated.push({ path: "", from: JSON.stringify(context).length, to: Math.min(budget, whole.length) });
  return whole.slice(0, budget);
}

/** One line for each value: indentation would cost as much as what it shows. */
function lines(context: JsonObject): string {
  const entries = Object.entries(context).map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  return `{${entries.join(",\n")}}`;
}

function shrunk(
  value: Json,
  path: string,
  limits: { readonly items: number; readonly chars: number },
  cuts: Truncation[],
): Json {
  if (typeof value === "string") return cutText(value, limits.chars, path, cuts);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    if (isVector(items)) {
      cuts.push({ path, from: items.length, to: 0 });
      return [];
    }
    if (items.length > limits.items) cuts.push({ path, from: items.length, to: limits.items });
    return items.slice(0, limits.items).map((item, at) => shrunk(item, `${path}/${String(at)}`, limits, cuts));
  }
  const entries = Object.entries(value as JsonObject);
  return Object.fromEntries(
    entries.map(([name, field]) => {
      const key = cleanText(name.slice(0, MAX_KEY_CHARS));
      return [key, shrunk(field, `${path}/${key}`, limits, cuts)];
    }),
  );
}

/** Many fractions in a row are an embedding: of no use to a model that reads. */
function isVector(items: readonly Json[]): boolean {
  return items.length >= 32 && items.every((item) => typeof item === "number") && !items.every(Number.isInteger);
}

/** Cleaned, and cut at the end of a sentence where there is one, and never within a character. */
function cutText(whole: string, limit: number, path: string, cuts: Truncation[]): string {
  const text = cleanText(whole.slice(0, limit + MAX_KEY_CHARS));
  if (text.length <= limit && whole.length <= limit + MAX_KEY_CHARS) return text;
  const room = text.slice(0, limit);
  const sentence = Math.max(room.lastIndexOf(". "), room.lastIndexOf("\n"), room.lastIndexOf("。"));
  const end = sentence > limit * 0.6 ? sentence + 1 : limit;
  const kept = text.slice(0, end).replace(/[\ud800-\udbff]$/, "");
  cuts.push({ path, from: whole.trim().length, to: kept.length });
  return `${kept}…`;
}
