import type { z } from "zod";
import type { ValueIssue } from "../partial/check.ts";

/**
 * The issues in the words of the tool's author, where the Zod schema has some for all that is wrong at a place. Adds no
 * issue: Zod sees pointers as plain objects, so only places where preflight itself found something count.
 */
export function inAuthorsWords(
  issues: readonly ValueIssue[],
  schema: z.ZodType | undefined,
  args: unknown,
): readonly ValueIssue[] {
  if (schema === undefined || !issues.some(isReworded)) return issues;
  const written = writtenMessages(schema, args);
  const told = new Set<string>();
  return issues.flatMap((issue) => {
    const place = placeOf(issue.path);
    const messages = isReworded(issue) ? written.get(place) : undefined;
    if (messages === undefined || messages.includes(UNWRITTEN)) return [issue];
    if (told.has(place)) return [];
    told.add(place);
    return [{ ...issue, message: [...new Set(messages)].join(" ") }];
  });
}

/** Missing and unknown arguments have codes and hints of their own; of pointers only preflight knows. */
function isReworded({ keyword, certainty }: ValueIssue): boolean {
  return certainty === "certain" && !["required", "additionalProperties", "gap"].includes(keyword);
}

/** Stands where the author wrote no message: Zod asks for one only then. */
const UNWRITTEN = "";

function writtenMessages(schema: z.ZodType, args: unknown): ReadonlyMap<string, readonly string[]> {
  const messages = new Map<string, string[]>();
  try {
    const { error } = schema.safeParse(args, { error: () => UNWRITTEN });
    for (const { code, path, message } of error?.issues ?? []) {
      // JSON Schema has nothing like a refinement, so none of preflight's issues is about it.
      if (code === "custom") continue;
      const place = placeOf(path);
      messages.set(place, [...(messages.get(place) ?? []), message]);
    }
  } catch {
    // The author's own functions threw, or answer later: the gate says so when it calls; here the plan's issues count.
    return new Map();
  }
  return messages;
}

function placeOf(path: readonly PropertyKey[]): string {
  return JSON.stringify(path.map(String));
}
