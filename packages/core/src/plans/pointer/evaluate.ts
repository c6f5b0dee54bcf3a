import { isErgonError } from "../../errors/ergon-error.ts";
import { jsonEqual } from "./json-equal.ts";
import { isList, isObject } from "./json-shape.ts";
import { tooDeep } from "./limit-error.ts";
import { MAX_POINTER_DEPTH } from "./limits.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import type { ComparisonOperator, Operand, Query, Segment, Selector, SliceSelector, Test } from "./query.ts";
import { child, MISSING, open, spend, startValue, type Walk, whole } from "./walk.ts";

/** True ends the search. */
export type Visit = (value: unknown) => boolean;

/**
 * Shows each node that a query selects, in RFC 9535's order, depth first and without lists in between. References
 * are followed where the path goes on, never at its end. What depends on something out of memory is left out; the walk
 * has counted it as a miss, and the caller throws the whole answer away.
 */
export function eachNode(walk: Walk, query: Query, current: unknown, visit: Visit): boolean {
  const start = startValue(walk, query.start, current);
  return start !== undefined && start !== MISSING && follow(walk, query.segments, 0, start, visit);
}

/** The node of a singular query, undefined when there is none. */
export function singleNode(walk: Walk, query: Query, current: unknown): unknown {
  let value = startValue(walk, query.start, current);
  for (const hop of query.hops ?? []) {
    if (value === undefined || value === MISSING) return value;
    value = child(walk, value, hop);
  }
  return value;
}

function follow(walk: Walk, path: readonly Segment[], at: number, value: unknown, visit: Visit): boolean {
  spend(walk, 1);
  const segment = path[at];
  if (segment === undefined) return visit(value);
  const subject = open(walk, value);
  if (subject === MISSING) return walk.eager;
  const next: Visit = (selected) => follow(walk, path, at + 1, selected, visit);
  return segment.descendant
    ? descend(walk, segment.selectors, subject, 0, next)
    : select(walk, segment.selectors, subject, next);
}

function descend(walk: Walk, selectors: readonly Selector[], subject: unknown, depth: number, visit: Visit): boolean {
  if (depth > MAX_POINTER_DEPTH) throw tooDeep();
  if (select(walk, selectors, subject, visit)) return true;
  for (const value of childrenOf(subject)) {
    spend(walk, 1);
    const opened = open(walk, value);
    if (opened === MISSING) {
      if (walk.eager) return true;
    } else if (typeof opened === "object" && opened !== null) {
      if (descend(walk, selectors, opened, depth + 1, visit)) return true;
    }
  }
  return false;
}

function select(walk: Walk, selectors: readonly Selector[], subject: unknown, visit: Visit): boolean {
  for (const selector of selectors) if (selectOne(walk, selector, subject, visit)) return true;
  return false;
}

function selectOne(walk: Walk, selector: Selector, subject: unknown, visit: Visit): boolean {
  switch (selector.kind) {
    case "name":
    case "index": {
      const value = child(walk, subject, selector.kind === "name" ? selector.name : selector.index);
      return value !== undefined && visit(value);
    }
    case "wildcard":
      for (const value of childrenOf(subject)) if (visit(value)) return true;
      return false;
    case "slice":
      return isList(subject) && slice(selector, subject, visit);
    case "filter":
      return filter(walk, selector.test, subject, visit);
  }
}

function childrenOf(subject: unknown): readonly unknown[] {
  if (isList(subject)) return subject;
  return isObject(subject) ? Object.values(subject) : [];
}

function slice({ start, stop, step }: SliceSelector, list: readonly unknown[], visit: Visit): boolean {
  const size = list.length;
  const place = (index: number): number => (index < 0 ? size + index : index);
  if (step > 0) {
    const end = Math.min(Math.max(place(stop ?? size), 0), size);
    for (let at = Math.max(place(start ?? 0), 0); at < end; at += step) if (visit(list[at])) return true;
  } else if (step < 0) {
    const end = stop === undefined ? -1 : Math.max(place(stop), -1);
    for (let at = Math.min(place(start ?? size - 1), size - 1); at > end; at += step) if (visit(list[at])) return true;
  }
  return false;
}

function filter(walk: Walk, test: Test, subject: unknown, visit: Visit): boolean {
  for (const value of childrenOf(subject)) {
    spend(walk, 1);
    const misses = walk.misses;
    const passes = holds(walk, test, value);
    if (walk.eager && walk.misses > misses) return true;
    if (passes && visit(value)) return true;
  }
  return false;
}

function holds(walk: Walk, test: Test, current: unknown): boolean {
  switch (test.kind) {
    case "and":
      return test.tests.every((part) => holds(walk, part, current));
    case "or":
      return test.tests.some((part) => holds(walk, part, current));
    case "not":
      return !holds(walk, test.test, current);
    case "exists":
      return eachNode(walk, test.query, current, () => true);
    case "compare":
      return compare(walk, test.operator, operand(walk, test.left, current), operand(walk, test.right, current));
    case "pattern": {
      const text = operand(walk, test.text, current);
      const pattern = test.pattern.kind === "compiled" ? test.pattern : dynamicPattern(walk, test, current);
      if (typeof text !== "string" || pattern === undefined) return false;
      spend(walk, pattern.size * text.length);
      return pattern.test(text);
    }
  }
}

/** A pattern that comes from the data and is none matches nothing (RFC 9535, 2.4.6). */
function dynamicPattern(walk: Walk, test: Test & { kind: "pattern" }, current: unknown): Pattern | undefined {
  const source = test.pattern.kind === "compiled" ? undefined : operand(walk, test.pattern, current);
  if (typeof source !== "string") return undefined;
  try {
    return compilePattern(source, test.whole ? "whole" : "part");
  } catch (thrown) {
    if (isErgonError(thrown) && thrown.code === "pattern_invalid") return undefined;
    throw thrown;
  }
}

/** undefined is RFC 9535's Nothing. */
function operand(walk: Walk, source: Operand, current: unknown): unknown {
  switch (source.kind) {
    case "literal":
      return source.value;
    case "node":
      return open(walk, singleNode(walk, source.query, current));
    case "length":
      return lengthOf(operand(walk, source.of, current));
    case "count": {
      let count = 0;
      eachNode(walk, source.query, current, () => {
        count += 1;
        return false;
      });
      return count;
    }
    case "value": {
      const found: unknown[] = [];
      eachNode(walk, source.query, current, (value) => found.push(value) > 1);
      return found.length === 1 ? open(walk, found[0]) : undefined;
    }
  }
}

/** Unicode characters of a string, not UTF-16 units. */
function lengthOf(value: unknown): number | undefined {
  if (typeof value === "string") return Array.from(value).length;
  if (isList(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : undefined;
}

function compare(walk: Walk, operator: ComparisonOperator, left: unknown, right: unknown): boolean {
  switch (operator) {
    case "==":
      return isSame(walk, left, right);
    case "!=":
      return !isSame(walk, left, right);
    case "<":
      return isBefore(left, right);
    case ">":
      return isBefore(right, left);
    case "<=":
      return isBefore(left, right) || isSame(walk, left, right);
    case ">=":
      return isBefore(right, left) || isSame(walk, left, right);
  }
}

/** Only two containers can be equal inside; everything else is compared without following what it holds. */
function isSame(walk: Walk, left: unknown, right: unknown): boolean {
  if (typeof left !== "object" || typeof right !== "object") return left === right;
  return jsonEqual(whole(walk, left), whole(walk, right));
}

function isBefore(left: unknown, right: unknown): boolean {
  if (typeof left === "number" && typeof right === "number") return left < right;
  return typeof left === "string" && typeof right === "string" && left < right;
}
