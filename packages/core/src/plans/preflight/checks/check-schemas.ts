import type { JsonSchema } from "../../../schema/values/json.ts";
import { schemaIssues } from "../../../tools/json-schema/check-schema.ts";
import { walkSchema, isSchemaObject } from "../../../tools/json-schema/walk-schema.ts";
import { childPath } from "../../pointer/json-location.ts";
import type { Outline } from "../outline.ts";
import type { Problems } from "../problems.ts";

/** Whether the plan's own JSON Schemas are ones. Returns the plan's parameters when they are. */
export function checkSchemas(outline: Outline, problems: Problems): JsonSchema | undefined {
  for (const { form, path } of outline.nodes) {
    if (form?.type === "human_in_the_loop" && form.inputSchema !== undefined) {
      checkSchema(form.inputSchema, childPath(path, "inputSchema"), problems);
    }
  }
  const parameters = outline.form === undefined ? outline.raw["parameters"] : outline.form.parameters;
  if (typeof parameters !== "boolean" && !isSchemaObject(parameters)) return undefined;
  return checkSchema(parameters, "$.parameters", problems) ? parameters : undefined;
}

function checkSchema(schema: JsonSchema, path: string, problems: Problems): boolean {
  const issues = schemaIssues(schema, { unsupportedPatterns: "refuse" });
  for (const issue of issues) {
    const at = pathOf(issue.path).reduce(childPath, path);
    problems.error(at, "schema_invalid", issue.message);
  }
  if (issues.length === 0 && isSchemaObject(schema)) warnOfUnchecked(schema, path, problems);
  return issues.length === 0;
}

/** Keywords that preflight passes over; the rest of the schema is still enforced. */
const UNCHECKED = ["unevaluatedProperties", "unevaluatedItems", "$dynamicRef"];

function warnOfUnchecked(schema: Exclude<JsonSchema, boolean>, path: string, problems: Problems): void {
  walkSchema(schema, (node) => {
    for (const keyword of UNCHECKED) {
      if (!Object.hasOwn(node.schema, keyword)) continue;
      const at = [...node.path, keyword].reduce(childPath, path);
      problems.warning(at, "schema_unchecked", `"${keyword}" is not checked before a plan runs.`);
    }
  });
}

function pathOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}
