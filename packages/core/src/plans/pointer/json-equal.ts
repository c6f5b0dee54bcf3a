import { isList, isObject } from "./json-shape.ts";
import { tooDeep } from "./limit-error.ts";
import { MAX_POINTER_DEPTH } from "./limits.ts";

/** Deep equality of JSON values: the order of keys does not count, and 1 is 1.0. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  return equal(left, right, 0);
}

function equal(left: unknown, right: unknown, depth: number): boolean {
  if (left === right) return true;
  if (depth > MAX_POINTER_DEPTH) throw tooDeep();
  if (isList(left)) return isList(right) && equalLists(left, right, depth);
  return isObject(left) && isObject(right) && equalObjects(left, right, depth);
}

function equalLists(left: readonly unknown[], right: readonly unknown[], depth: number): boolean {
  return left.length === right.length && left.every((item, at) => equal(item, right[at], depth + 1));
}

function equalObjects(
  left: Readonly<Record<string, unknown>>,
  right: Readonly<Record<string, unknown>>,
  depth: number,
): boolean {
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && equal(left[key], right[key], depth + 1));
}
