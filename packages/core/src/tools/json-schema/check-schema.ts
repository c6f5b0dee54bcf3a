import { jsonProblem, pointerTo, type JsonObject } from "../../schema/values/json.ts";
import { didYouMean } from "../../schema/values/suggest.ts";
import type { Issue } from "../tool.ts";
import { dialectOf } from "./dialect.ts";
import { KEYWORDS, TYPE_NAMES, type KeywordShape } from "./keywords.ts";
import { safePattern } from "./pattern.ts";
import { followPointer, isSchemaObject, walkSchema, type SchemaNode } from "./walk-schema.ts";

export const MAX_SCHEMA_BYTES = 256 * 1024;
export const MAX_SCHEMA_DEPTH = 64;
/** A schema that is wrong throughout is wrong after this many problems too. */
export const MAX_SCHEMA_ISSUES = 20;

export type SchemaRules = {
  /** Whether a pattern that the linear-time engine cannot run makes the schema invalid, or is left unchecked. */
  readonly unsupportedPatterns: "refuse" | "ignore";
};

/** All that is wrong with a JSON Schema, without compiling it: registration asks this, and must not wait for a compiler. */
export function schemaIssues(schema: unknown, rules: SchemaRules): readonly Issue[] {
  if (typeof schema === "boolean") return [];
  if (!isSchemaObject(schema)) return [issue([], "type", "A JSON Schema is an object or a boolean.")];
  const notJson = jsonProblem(schema);
  if (notJson !== undefined) return [issue([], "json", `A JSON Schema is JSON; this holds ${notJson}.`)];
  const size = JSON.stringify(schema).length;
  if (size > MAX_SCHEMA_BYTES) {
    return [issue([], "too_large", `It has ${String(size)} bytes; ${String(MAX_SCHEMA_BYTES)} is the limit.`)];
  }
  const issues: Issue[] = [];
  const dialect = dialectOf(schema);
  if (dialect === undefined) {
    const known = "draft-07, 2019-09 and 2020-12 are known";
    issues.push(
      issue(["$schema"], "dialect", `The dialect ${JSON.stringify(schema["$schema"])} is not known; ${known}.`),
    );
  }
  const ids = identifiers(schema);
  walkSchema(schema, (node) => {
    if (issues.length >= MAX_SCHEMA_ISSUES) return;
    if (node.path.length > 2 * MAX_SCHEMA_DEPTH) {
      issues.push(issue([], "too_deep", `It is nested deeper than ${String(MAX_SCHEMA_DEPTH)} levels.`));
      return;
    }
    issues.push(...nodeIssues(node, rules), ...referenceIssues(node, schema, ids));
    if (Array.isArray(node.schema["items"]) && dialect === "2020-12") {
      issues.push(
        issue([...node.path, "items"], "items", 'In 2020-12 "items" is one schema; a list goes into "prefixItems".'),
      );
    }
  });
  return issues.slice(0, MAX_SCHEMA_ISSUES);
}

function nodeIssues({ schema, path }: SchemaNode, rules: SchemaRules): Issue[] {
  const issues: Issue[] = [];
  for (const keyword of Object.keys(schema)) {
    const shape = KEYWORDS.get(keyword);
    if (shape === undefined) continue;
    const problem = shapeProblem(shape, schema[keyword], rules);
    if (problem !== undefined) issues.push(issue([...path, keyword], keyword, `"${keyword}" ${problem}.`));
  }
  return issues;
}

function shapeProblem(shape: KeywordShape, value: unknown, rules: SchemaRules): string | undefined {
  switch (shape) {
    case "schema":
      return isSchema(value) ? undefined : "takes a schema";
    case "schema-or-list":
      return isSchema(value) || (isList(value) && value.every(isSchema))
        ? undefined
        : "takes a schema or a list of them";
    case "schema-list":
      return isList(value) && value.length > 0 && value.every(isSchema)
        ? undefined
        : "takes a list of at least one schema";
    case "schema-map":
      return isSchemaObject(value) && Object.values(value).every(isSchema) ? undefined : "takes an object of schemas";
    case "pattern-map":
      if (!isSchemaObject(value) || !Object.values(value).every(isSchema)) return "takes an object of schemas";
      return firstOf(Object.keys(value), (key) => patternProblem(key, rules));
    case "dependencies":
      return isSchemaObject(value) && Object.values(value).every((entry) => isSchema(entry) || isNames(entry))
        ? undefined
        : "takes an object of schemas or lists of names";
    case "string-lists":
      return isSchemaObject(value) && Object.values(value).every(isNames)
        ? undefined
        : "takes an object of lists of names";
    case "string":
      return typeof value === "string" ? undefined : "takes a string";
    case "pattern":
      return typeof value === "string" ? patternProblem(value, rules) : "takes a regular expression as a string";
    case "number":
      return typeof value === "number" ? undefined : "takes a number";
    case "positive":
      return typeof value === "number" && value > 0 ? undefined : "takes a number above 0";
    case "count":
      return Number.isInteger(value) && Number(value) >= 0 ? undefined : "takes a whole number, 0 or more";
    case "boolean":
      return typeof value === "boolean" ? undefined : "takes true or false";
    case "enum":
      return isList(value) && value.length > 0 ? undefined : "takes a list of at least one value";
    case "names":
      return isNames(value) ? undefined : "takes a list of names";
    case "type":
      return typeProblem(value);
  }
}

function typeProblem(value: unknown): string | undefined {
  const names: readonly unknown[] = isList(value) ? value : [value];
  if (names.length === 0) return "takes at least one type";
  const wrong = names.find((name) => typeof name !== "string" || !TYPE_NAMES.includes(name));
  if (wrong === undefined) return undefined;
  const hint = typeof wrong === "string" ? didYouMean(wrong, TYPE_NAMES) : "";
  return `does not know ${JSON.stringify(wrong)}; the types are ${TYPE_NAMES.join(", ")}.${hint}`.replace(/\.$/, "");
}

function patternProblem(source: string, rules: SchemaRules): string | undefined {
  const answer = safePattern(source);
  if (answer.ok || rules.unsupportedPatterns === "ignore") return undefined;
  return `${JSON.stringify(source.slice(0, 100))} ${answer.problem}`;
}

/** References stay inside the document: nothing is ever fetched. */
function referenceIssues(node: SchemaNode, root: JsonObject, ids: ReadonlySet<string>): Issue[] {
  const issues: Issue[] = [];
  for (const keyword of ["$ref", "$dynamicRef"]) {
    const reference = node.schema[keyword];
    if (typeof reference !== "string" || ids.has(reference) || ids.has(reference.replace(/#.*$/, ""))) continue;
    if (reference === "#" || reference.startsWith("#/")) {
      if (isSchema(followPointer(root, reference)?.value)) continue;
      issues.push(issue([...node.path, keyword], "reference", `"${reference}" points to nothing in this schema.`));
      continue;
    }
    const message = `"${reference}" is not part of this schema. References stay inside the document; copy what is meant into "$defs".`;
    issues.push(issue([...node.path, keyword], "remote_reference", message));
  }
  return issues;
}

/** Every name under which a part of the document may be referred to, beside pointers. */
function identifiers(root: JsonObject): ReadonlySet<string> {
  const ids = new Set<string>();
  walkSchema(root, ({ schema }) => {
    if (typeof schema["$id"] === "string" && schema["$id"] !== "") ids.add(schema["$id"].replace(/#$/, ""));
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      if (typeof schema[keyword] === "string") ids.add(`#${schema[keyword]}`);
    }
  });
  return ids;
}

function issue(path: readonly string[], code: string, message: string): Issue {
  return { path: pointerTo(path), code, message };
}

function isSchema(value: unknown): boolean {
  return typeof value === "boolean" || isSchemaObject(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isNames(value: unknown): boolean {
  return isList(value) && value.every((name) => typeof name === "string");
}

function firstOf<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
