import type { z } from "zod";
import { isErgonError } from "../../errors/ergon-error.ts";
import { registryError } from "../../errors/registry.ts";
import { pointerTo } from "../../schema/values/json.ts";
import { didYouMean, suggest } from "../../schema/values/suggest.ts";
import type { Issue } from "../tool.ts";

/** Where an authoring form was found, so that messages can say so. */
export type Provenance = { readonly source?: string };

/** Reads an authoring form; throws `tool_invalid` with everything that is wrong with it. */
export function readForm<S extends z.ZodObject>(kind: string, fields: S, form: unknown): z.output<S> {
  const parsed = fields.safeParse(form);
  const issues: Issue[] = parsed.success
    ? []
    : parsed.error.issues.map((found) => ({ path: pointerTo(found.path), code: found.code, message: found.message }));
  issues.push(...mistypedFields(kind, fields, form));
  if (parsed.success && issues.length === 0) return parsed.data;
  const listed = issues.map(({ path, message }) => (path === "" ? message : `${path.slice(1)}: ${message}`)).join("; ");
  throw registryError("tool_invalid", `${nameOf(kind, form)} is not valid: ${listed}`, { details: { issues } });
}

/** Runs code that touches a user's objects: whatever they throw at us comes out as one typed error. */
export function guarded<T>(kind: string, form: unknown, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (isErgonError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : "it threw a value that is no Error";
    throw registryError("tool_invalid", `${nameOf(kind, form)} cannot be read: ${reason}.`, { cause });
  }
}

export function nameOf(kind: string, form: unknown): string {
  try {
    const { id, name } = form as { readonly id?: unknown; readonly name?: unknown };
    const called = typeof id === "string" ? id : name;
    return typeof called === "string" ? `The ${kind} "${called.slice(0, 200)}"` : `A ${kind} without a name`;
  } catch {
    return `A ${kind} without a name`;
  }
}

/** Extra fields are the author's own business, unless they look like one of ours: "argSchema" would switch off all checks. */
function mistypedFields(kind: string, fields: z.ZodObject, form: unknown): readonly Issue[] {
  if (typeof form !== "object" || form === null) return [];
  const known = Object.keys(fields.shape);
  const present = Object.keys(form);
  return present
    .filter((key) => !known.includes(key))
    .filter((key) => {
      const meant = suggest(key, known);
      return meant !== undefined && !present.includes(meant);
    })
    .map((key) => ({
      path: pointerTo([key]),
      code: "unknown_field",
      message: `not a field of ${/^[aeiou]/.test(kind) ? "an" : "a"} ${kind}.${didYouMean(key, known)}`,
    }));
}
