import type { z } from "zod";
import { pointerTo, type JsonSchema } from "../schema/values/json.ts";
import { suggest } from "../schema/values/suggest.ts";
import type { Issue } from "./tool.ts";

/** One answer names at most this many problems. */
export const MAX_ISSUES = 100;

/** Zod's issues in the one shape that every door shows. */
export function zodIssues(error: z.core.$ZodError, schema: JsonSchema, value: unknown): readonly Issue[] {
  const issues = error.issues.slice(0, MAX_ISSUES).flatMap((found): Issue[] => {
    if (found.code === "unrecognized_keys") {
      return found.keys.map((key) => unknownField([...found.path, key], propertyNames(schema, found.path)));
    }
    return [{ path: pointerTo(found.path), code: found.code, message: found.message }];
  });
  return withMeantFields(issues, schema, value);
}

export function unknownField(path: readonly PropertyKey[], known: readonly string[]): Issue {
  const name = String(path.at(-1));
  const meant = suggest(name, known);
  const hint =
    meant === undefined
      ? known.length === 0
        ? ""
        : ` Known are: ${known.slice(0, 20).join(", ")}.`
      : ` Did you mean "${meant}"?`;
  return { path: pointerTo(path), code: "unknown_field", message: `"${name}" is not a field here.${hint}` };
}

/**
 * A field that is missing while a field that nobody knows is there was most likely mistyped. Schemas often drop
 * unknown fields silently, so that the missing one is all that they complain about.
 */
export function withMeantFields(issues: readonly Issue[], schema: JsonSchema, value: unknown): readonly Issue[] {
  if (typeof value !== "object" || value === null) return issues;
  const known = propertyNames(schema, []);
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  if (unknown.length === 0) return issues;
  return issues.map((issue) => {
    const name = issue.path.slice(1);
    if (!known.includes(name) || Object.hasOwn(value, name)) return issue;
    const typed = suggest(name, unknown);
    return typed === undefined
      ? issue
      : { ...issue, message: `${issue.message} (did you mean "${name}" by "${typed}"?)` };
  });
}

/** The names that the schema knows for the object at a path; empty where it does not say. */
export function propertyNames(schema: JsonSchema, path: readonly PropertyKey[]): readonly string[] {
  let node: unknown = schema;
  for (const part of path) {
    if (typeof node !== "object" || node === null) return [];
    const { properties, items } = node as { readonly properties?: unknown; readonly items?: unknown };
    node =
      typeof part === "number"
        ? items
        : isRecord(properties) && Object.hasOwn(properties, part)
          ? properties[String(part)]
          : undefined;
  }
  const properties: unknown = isRecord(node) ? node["properties"] : undefined;
  return isRecord(properties) ? Object.keys(properties) : [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
