/** Places where JSON may begin that are tried before giving up. */
const MAX_STARTS = 50;

/** The first JSON in a text that is what was wanted: bare, in a fence, or with prose around it. */
export function jsonIn(text: string, isWanted: (value: unknown) => boolean): { readonly value: unknown } | undefined {
  let tries = 0;
  for (let at = text.search(/[[{]/); at >= 0 && tries < MAX_STARTS; tries += 1) {
    const end = closingOf(text, at);
    const found = end === undefined ? undefined : parsed(text.slice(at, end));
    // Prose has brackets too.
    if (found !== undefined && isWanted(found.value)) return found;
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
