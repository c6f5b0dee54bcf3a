import { z } from "zod";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** Deeper documents are refused before any recursive code sees them. */
export const MAX_JSON_DEPTH = 512;

/** A value that survives JSON unchanged. */
export const Json = z.unknown().superRefine((value, ctx) => {
  const problem = jsonProblem(value);
  if (problem !== undefined) ctx.addIssue({ code: "custom", message: problem });
}) as z.ZodType<Json, unknown>;

export const JsonObject = z.record(z.string(), Json) as z.ZodType<JsonObject, unknown>;

/** For a record that is JSON by its schema: its type only lacks the index signature. */
export function asJson(value: object): Json {
  return value as Json;
}

/** A JSON Schema document (draft-07 or 2020-12). Compiling it is the validator's work. */
export type JsonSchema = boolean | JsonObject;
export const JsonSchema = z.union([z.boolean(), JsonObject]) as z.ZodType<JsonSchema, unknown>;

/** More values than this in one document are refused: shared references can unfold without end. */
export const MAX_JSON_NODES = 5_000_000;

export type JsonRules = {
  /** Object fields that are undefined count as absent, as they do for JSON.stringify. */
  readonly undefinedIsAbsent?: boolean;
};

/** Says why a value is not JSON and where, or undefined when it is. Never throws, whatever it is given. */
export function jsonProblem(root: unknown, rules: JsonRules = {}): string | undefined {
  const inspection: Inspection = {
    path: [],
    open: new Set(),
    nodes: 0,
    undefinedIsAbsent: rules.undefinedIsAbsent ?? false,
  };
  let problem: string | undefined;
  try {
    problem = inspect(root, inspection);
  } catch (thrown) {
    problem = unreadable(thrown);
  }
  if (problem === undefined || inspection.path.length === 0) return problem;
  return `${problem}, at ${pointerTo(inspection.path)}`;
}

/** What is wrong with a value whose getter or proxy threw. */
export function unreadable(thrown: unknown): string {
  return `a value that cannot be read (${thrown instanceof Error ? thrown.message : "its getter threw"})`;
}

/** A copy that shares nothing with its original. Depth must be bounded by the caller, see `jsonProblem`. */
export function copyJson<T extends Json>(value: T): T {
  return copied(value) as T;
}

function copied(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copied);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[key];
    if (field !== undefined) putField(copy, key, copied(field));
  }
  return copy;
}

export function putField(object: Record<string, unknown>, key: string, value: unknown): void {
  // Assigning to this name would set the prototype instead of a field.
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else object[key] = value;
}

/** The JSON Pointer (RFC 6901) of a path; "" is the whole document. */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

type Inspection = {
  readonly path: (string | number)[];
  /** The containers on the way down to here; meeting one again is a cycle. */
  readonly open: Set<object>;
  nodes: number;
  readonly undefinedIsAbsent: boolean;
};

/** On a problem it returns at once, and so leaves the path where the problem is. */
function inspect(value: unknown, at: Inspection): string | undefined {
  at.nodes += 1;
  if (at.nodes > MAX_JSON_NODES) return `more than ${String(MAX_JSON_NODES)} values`;
  const scalar = scalarProblem(value);
  if (scalar !== null) return scalar;
  const container = value as object;
  if (at.open.size >= MAX_JSON_DEPTH) return `a value nested deeper than ${String(MAX_JSON_DEPTH)} levels`;
  if (at.open.has(container)) return "a value that contains itself";
  at.open.add(container);
  const problem = Array.isArray(container) ? inspectArray(container, at) : inspectObject(container, at);
  at.open.delete(container);
  return problem;
}

function inspectArray(items: readonly unknown[], at: Inspection): string | undefined {
  for (let index = 0; index < items.length; index += 1) {
    at.path.push(index);
    const problem = inspect(items[index], at);
    if (problem !== undefined) return problem;
    at.path.pop();
  }
  return undefined;
}

function inspectObject(container: object, at: Inspection): string | undefined {
  for (const key of Object.keys(container)) {
    const value = (container as Record<string, unknown>)[key];
    if (value === undefined && at.undefinedIsAbsent) continue;
    at.path.push(key);
    // JSON allows the name; a program that copies it by assignment would set a prototype.
    const problem = key === "__proto__" ? 'a field named "__proto__"' : inspect(value, at);
    if (problem !== undefined) return problem;
    at.path.pop();
  }
  return undefined;
}

/** undefined: a fine scalar; a string: what is wrong with it; null: a container, look inside. */
export function scalarProblem(value: unknown): string | undefined | null {
  switch (typeof value) {
    case "string":
    case "boolean":
      return undefined;
    case "number":
      return Number.isFinite(value) ? undefined : "a number that JSON cannot hold";
    case "object":
      return value === null ? undefined : plainProblem(value);
    case "undefined":
    case "bigint":
    case "function":
    case "symbol":
      return `a value of type ${typeof value}`;
  }
}

function plainProblem(value: object): string | null {
  if (Array.isArray(value)) return null;
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto === null || proto === Object.prototype) return null;
  // Objects of another realm (a worker, a vm) are plain too when their prototype is a root.
  if (typeof proto === "object" && Object.getPrototypeOf(proto) === null) return null;
  return "an object that is not plain data";
}
