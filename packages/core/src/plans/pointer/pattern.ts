import { RE2JS } from "re2js";
import { planError } from "../../errors/plan.ts";
import { pointerLimit } from "./limit-error.ts";
import { MAX_PATTERN_LENGTH, MAX_POINTER_WORK, PATTERN_CACHE_SIZE } from "./limits.ts";

/**
 * The plan operator `matches`: true when the pattern is found anywhere in the text; `^` and `$` anchor it. The syntax
 * is RE2's: no look-around and no back-references, and the time is linear in the text.
 */
export function matchesPattern(text: string, pattern: string): boolean {
  return compilePattern(pattern, "anywhere").test(text);
}

/**
 * `anywhere` is the operator `matches`. The other two are RFC 9535's functions over RFC 9485 patterns, in which a dot
 * stands for anything but a line break of either kind: `whole` is `match()`, `part` is `search()`.
 */
export type PatternMode = "anywhere" | "whole" | "part";

export type Pattern = {
  readonly kind: "compiled";
  readonly source: string;
  /** What one character of text costs at most. */
  readonly size: number;
  /** Throws `pointer_limit` when the text is too long for this pattern. */
  readonly test: (text: string) => boolean;
};

/** Throws `pattern_invalid`. */
export function compilePattern(source: string, mode: PatternMode): Pattern {
  const key = `${mode} ${source}`;
  const known = cache.get(key);
  if (known !== undefined) {
    cache.delete(key);
    cache.set(key, known);
    return known;
  }
  const pattern = build(source, mode);
  cache.set(key, pattern);
  if (cache.size > PATTERN_CACHE_SIZE) {
    const oldest = cache.keys().next();
    if (!oldest.done) cache.delete(oldest.value);
  }
  return pattern;
}

// A memory of a pure function: it changes how long an answer takes, never the answer.
const cache = new Map<string, Pattern>();

function build(source: string, mode: PatternMode): Pattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw planError("pattern_invalid", `A pattern may have ${String(MAX_PATTERN_LENGTH)} characters at most.`, {
      details: { length: source.length, limit: MAX_PATTERN_LENGTH },
    });
  }
  const compiled = parse(mode === "anywhere" ? source : withNarrowDots(source), source);
  const size = compiled.programSize();
  const test = (text: string): boolean => {
    if (size * text.length > MAX_POINTER_WORK) throw tooLong(source, size, text);
    return mode === "whole" ? compiled.testExact(text) : compiled.test(text);
  };
  return { kind: "compiled", source, size, test };
}

function parse(translated: string, source: string): RE2JS {
  try {
    return RE2JS.compile(translated);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw planError("pattern_invalid", `The pattern ${JSON.stringify(source)} is not valid: ${reason}.`, {
      details: { pattern: source },
      cause,
    });
  }
}

/** RFC 9485: a dot outside a class excludes both line breaks; RE2's excludes only `\n`. */
function withNarrowDots(source: string): string {
  let out = "";
  let classStart = -1;
  for (let i = 0; i < source.length; i++) {
    const ch = source.charAt(i);
    if (ch === "\\") {
      out += ch + source.charAt(++i);
      continue;
    }
    if (classStart < 0 && ch === "[") classStart = i + (source.charAt(i + 1) === "^" ? 1 : 0);
    else if (ch === "]" && i > classStart + 1) classStart = -1;
    out += ch === "." && classStart < 0 ? "[^\\n\\r]" : ch;
  }
  return out;
}

function tooLong(pattern: string, patternSize: number, text: string): Error {
  return pointerLimit("work", `A text of ${String(text.length)} characters is too long for the pattern "${pattern}".`, {
    pattern,
    patternSize,
    textLength: text.length,
  });
}
