import { compile, type JSONPathQuery, type JSONValue } from "json-p3";
import type { Json, JsonObject } from "../../src/schema/values/json.ts";
import type { Condition, ContextValuePointer } from "../../src/schema/plan.ts";

/** The whole document that a pointer sees; `history` is newest first. */
export type Document = {
  readonly context: JsonObject;
  readonly history: readonly JsonObject[];
  readonly promptInput: Json;
};

/** A step that could not do its work: it waits for a person. */
export class StepFailure extends Error {
  override readonly name = "StepFailure";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The value with every pointer in it replaced by what it points to. */
export function evaluate(value: Json, document: Document): Json {
  if (isPointer(value)) return resolve(value, document);
  if (isArray(value)) return value.map((each) => evaluate(each, document));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, evaluate(each, document)]));
}

export function resolve(pointer: ContextValuePointer, document: Document): Json {
  const found = lookUp(pointer, document);
  if (found === undefined) throw new StepFailure("pointer_unresolved", `${pointer.jsonPath} leads to nothing`);
  return found;
}

/** `{{$.path}}` in a message: strings as they are, all else as JSON text. */
export function interpolate(message: string, document: Document): string {
  return message.replaceAll(/\{\{\s*(\$.*?)\s*\}\}/g, (_, jsonPath: string) => {
    const value = resolve({ jsonPath }, document);
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

export function holds(condition: Condition, document: Document): boolean {
  const left = operand(condition.left, document);
  const right = condition.right === undefined ? undefined : operand(condition.right, document);
  switch (condition.operator) {
    case "exists":
      return nodeCount(condition.left, document) > 0;
    case "not_exists":
      return nodeCount(condition.left, document) === 0;
    case "equals":
      return same(left, right);
    case "not_equals":
      return !same(left, right);
    case "greater_than":
      return ordered(left, right, (a, b) => a > b);
    case "less_than":
      return ordered(left, right, (a, b) => a < b);
    case "greater_or_equal":
      return ordered(left, right, (a, b) => a >= b);
    case "less_or_equal":
      return ordered(left, right, (a, b) => a <= b);
    case "contains":
      return contains(left, right);
    case "in":
      return contains(right, left);
    case "matches":
      return typeof left === "string" && typeof right === "string" && new RegExp(right, "u").test(left);
  }
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPointer(value: Json): value is ContextValuePointer & JsonObject {
  return isObject(value) && typeof value["jsonPath"] === "string";
}

/** A pointer to one node gives it; a query gives an array, unless it asks for the first. */
function lookUp(pointer: ContextValuePointer, document: Document): Json | undefined {
  const nodes = select(pointer.jsonPath, document);
  if (!compiled(pointer.jsonPath).singularQuery() && pointer.first !== true) return nodes;
  return nodes.length > 0 ? nodes[0] : pointer.default;
}

const queries = new Map<string, JSONPathQuery>();

function compiled(jsonPath: string): JSONPathQuery {
  const query = queries.get(jsonPath) ?? compile(jsonPath);
  queries.set(jsonPath, query);
  return query;
}

function select(jsonPath: string, document: Document): Json[] {
  return compile(jsonPath)
    .query(document as JsonObject as JSONValue)
    .values() as Json[];
}

/** Undefined stands for a pointer that leads to nothing; inside a larger literal that is a failure. */
function operand(value: Json, document: Document): Json | undefined {
  return isPointer(value) ? lookUp(value, document) : evaluate(value, document);
}

function nodeCount(value: Json, document: Document): number {
  return isPointer(value) ? select(value.jsonPath, document).length : 1;
}

function same(left: Json | undefined, right: Json | undefined): boolean {
  if (left === undefined || right === undefined) return false;
  if (isArray(left))
    return isArray(right) && left.length === right.length && left.every((each, at) => same(each, right[at]));
  if (!isObject(left)) return left === right;
  const keys = Object.keys(left);
  if (!isObject(right) || Object.keys(right).length !== keys.length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && same(left[key], right[key]));
}

type Comparison = (left: number | string, right: number | string) => boolean;

function ordered(left: Json | undefined, right: Json | undefined, compare: Comparison): boolean {
  if (left === undefined || right === undefined) return false;
  if (typeof left === "number" && typeof right === "number") return compare(left, right);
  if (typeof left === "string" && typeof right === "string") return compare(left, right);
  throw new StepFailure("condition_type", "only two numbers or two strings have an order");
}

function contains(whole: Json | undefined, part: Json | undefined): boolean {
  if (whole === undefined || part === undefined) return false;
  if (isArray(whole)) return whole.some((each) => same(each, part));
  if (typeof part !== "string") return false;
  if (typeof whole === "string") return whole.includes(part);
  return isObject(whole) && Object.hasOwn(whole, part);
}
