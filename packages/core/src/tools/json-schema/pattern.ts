import { RE2JS } from "re2js";

/** Longer patterns are refused. */
export const MAX_PATTERN_LENGTH = 2_000;
/** Tools of a pack share patterns (ids, digests), and compiling one takes milliseconds: so many are kept. */
export const MAX_KEPT_PATTERNS = 100;

const kept = new Map<string, PatternAnswer>();

/** Matching is linear in the text whatever the pattern: JavaScript's own engine can be made to hang. */
export type SafePattern = { readonly test: (text: string) => boolean };

export type PatternAnswer =
  | { readonly ok: true; readonly pattern: SafePattern }
  | { readonly ok: false; readonly problem: string };

export function safePattern(source: string): PatternAnswer {
  if (source.length > MAX_PATTERN_LENGTH) {
    return { ok: false, problem: `is longer than ${String(MAX_PATTERN_LENGTH)} characters` };
  }
  const known = kept.get(source);
  if (known !== undefined) return known;
  const answer = compile(source);
  if (kept.size >= MAX_KEPT_PATTERNS) kept.clear();
  kept.set(source, answer);
  return answer;
}

function compile(source: string): PatternAnswer {
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    return { ok: true, pattern: { test: (text) => compiled.test(text) } };
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message.replace(/^error parsing regexp: /, "") : "unknown";
    return {
      ok: false,
      problem: `cannot be used (${reason}); look-around, back-references and counts over 1000 are not supported`,
    };
  }
}
