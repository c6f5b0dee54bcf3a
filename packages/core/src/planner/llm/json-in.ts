/** Places where JSON may begin that are tried before giving up. */
const MAX_STARTS = 50;

export type FoundJson = {
  /** Whole values at the top level of the text, in order; none of them from inside a value that is damaged. */
  readonly values: readonly unknown[];
  /** The last JSON of the text is cut off or damaged. */
  readonly isBroken: boolean;
};

/**
 * The JSON in what a model wrote: bare, in a fence, or with prose around it. A part of a damaged value is never taken
 * for the whole, and neither is JSON that the model only thought of (`<think>`).
 */
export function jsonIn(text: string): FoundJson {
  const marks = /<(\/?)think(?:ing)?>|[[{]/gi;
  let values: unknown[] = [];
  let isBroken = false;
  for (let tries = 0; tries < MAX_STARTS; tries += 1) {
    const mark = marks.exec(text);
    if (mark === null) return { values, isBroken };
    const [written, slash] = mark;
    if (written.length > 1) {
      // Templates may leave the opening tag out: then all that stands before the closing one was a thought.
      if (slash === "/") [values, isBroken] = [[], false];
      else marks.lastIndex = endOfThought(text, marks.lastIndex);
      continue;
    }
    const end = closingOf(text, mark.index) ?? text.length;
    const found = parsed(text.slice(mark.index, end));
    // Prose has brackets too.
    if (found === undefined && !LOOKS_LIKE_JSON.test(text.slice(mark.index, mark.index + MAX_LOOK))) continue;
    isBroken = found === undefined;
    values = found === undefined ? [] : [...values, found.value];
    marks.lastIndex = end;
  }
  return { values: [], isBroken: true };
}

const LOOKS_LIKE_JSON = /^(?:\[\s*[[{"]|\{\s*")/;
const MAX_LOOK = 200;

function endOfThought(text: string, from: number): number {
  const closing = /<\/think(?:ing)?>/gi;
  closing.lastIndex = from;
  return closing.exec(text) === null ? text.length : closing.lastIndex;
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
