import { z } from "zod";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

/** Deeper documents are refused before any recursive code sees them. */
export const MAX_JSON_DEPTH = 512;

/** A value that survives JSON unchanged. Checked without recursion, so that depth cannot overflow the stack. */
export const Json = z.unknown().superRefine((value, ctx) => {
  const problem = jsonProblem(value);
  if (problem !== undefined) ctx.addIssue({ code: "custom", message: problem });
}) as z.ZodType<Json, unknown>;

export const JsonObject = z.record(z.string(), Json) as z.ZodType<JsonObject, unknown>;

/** A JSON Schema document (draft-07 or 2020-12). Compiling it is the validator's work. */
export type JsonSchema = boolean | JsonObject;
export const JsonSchema = z.union([z.boolean(), JsonObject]) as z.ZodType<JsonSchema, unknown>;

/** Says why a value is not JSON, or undefined when it is. */
export function jsonProblem(root: unknown): string | undefined {
  const stack: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  const open = new Set<object>();
  while (stack.length > 0) {
    const top = stack.pop();
    if (top === undefined) break;
    const { value, depth } = top;
    if (value === CLOSE) {
      const closing = stack.pop();
      if (closing !== undefined) open.delete(closing.value as object);
      continue;
    }
    const scalar = scalarProblem(value);
    if (scalar !== null) {
      if (scalar !== undefined) return scalar;
      continue;
    }
    const container = value as object;
    if (depth >= MAX_JSON_DEPTH) return `nested deeper than ${String(MAX_JSON_DEPTH)} levels`;
    if (open.has(container)) return "contains itself";
    open.add(container);
    stack.push({ value: container, depth }, { value: CLOSE, depth });
    const children: readonly unknown[] = Array.isArray(container) ? container : Object.values(container);
    for (const child of children) stack.push({ value: child, depth: depth + 1 });
  }
  return undefined;
}

const CLOSE = Symbol("close");

/** undefined: a fine scalar; a string: what is wrong with it; null: a container, look inside. */
function scalarProblem(value: unknown): string | undefined | null {
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
