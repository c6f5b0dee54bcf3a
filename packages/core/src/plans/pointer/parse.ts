import { JSONPathEnvironment, JSONPathError, jsonpath } from "json-p3";
import { type ErgonError, isErgonError } from "../../errors/ergon-error.ts";
import { planError } from "../../errors/plan.ts";
import { pointerLimit } from "./limit-error.ts";
import { MAX_POINTER_LENGTH, MAX_POINTER_NESTING } from "./limits.ts";
import { compilePattern } from "./pattern.ts";
import type { ComparisonOperator, Operand, Query, Segment, Selector, Test } from "./query.ts";

/** Finds out where an absolute query starts; what it throws for a path that leads nowhere is `pointer_invalid`. */
export type QueryPlanner = (segments: readonly Segment[], position: number) => Query;

/**
 * Reads RFC 9535 JSONPath. The grammar and its type rules are json-p3's; its evaluator, and with it its use of
 * JavaScript regular expressions, is left aside. One liberty of its lexer is kept: `$.context.a-b` needs no brackets.
 * Absolute queries, also those inside filters, go through `plan`.
 */
export function parseQuery(source: string, plan: QueryPlanner): Query {
  if (source.length > MAX_POINTER_LENGTH) {
    throw pointerLimit("length", `A pointer may have ${String(MAX_POINTER_LENGTH)} characters at most.`, {
      length: source.length,
    });
  }
  try {
    const parsed = environment.compile(source);
    return plan(segmentsOf(parsed, { plan, depth: 0 }), 0);
  } catch (thrown) {
    if (isErgonError(thrown)) throw thrown;
    throw syntaxError(source, thrown);
  }
}

export function singularHops(segments: readonly Segment[]): readonly (string | number)[] | undefined {
  const hops: (string | number)[] = [];
  for (const segment of segments) {
    const [only, ...others] = segment.selectors;
    if (segment.descendant || only === undefined || others.length > 0) return undefined;
    if (only.kind === "name") hops.push(only.name);
    else if (only.kind === "index") hops.push(only.index);
    else return undefined;
  }
  return hops;
}

const { selectors, expressions } = jsonpath;
const environment = new JSONPathEnvironment();

type Parsed = InstanceType<typeof jsonpath.JSONPathQuery>;
type Expression = InstanceType<typeof expressions.FilterExpression>;
type Reading = { readonly plan: QueryPlanner; readonly depth: number };

function segmentsOf(query: Parsed, reading: Reading): Segment[] {
  return query.segments.map((segment) => ({
    descendant: segment.token.kind === jsonpath.TokenKind.DDOT,
    selectors: segment.selectors.map((selector) => selectorOf(selector, reading)),
  }));
}

function selectorOf(selector: InstanceType<typeof jsonpath.JSONPathSelector>, reading: Reading): Selector {
  if (selector instanceof selectors.NameSelector) return { kind: "name", name: selector.name };
  if (selector instanceof selectors.IndexSelector) return { kind: "index", index: selector.index };
  if (selector instanceof selectors.WildcardSelector) return { kind: "wildcard" };
  if (selector instanceof selectors.SliceSelector) {
    return { kind: "slice", start: selector.start, stop: selector.stop, step: selector.step ?? 1 };
  }
  if (selector instanceof selectors.FilterSelector) {
    return { kind: "filter", test: testOf(selector.expression.expression, reading) };
  }
  throw unsupported(selector.token);
}

function testOf(expression: Expression, reading: Reading): Test {
  const inner = deeper(reading);
  if (expression instanceof expressions.PrefixExpression) return { kind: "not", test: testOf(expression.right, inner) };
  if (expression instanceof expressions.FilterQuery) return { kind: "exists", query: queryOf(expression, inner) };
  if (expression instanceof expressions.FunctionExtension) return patternOf(expression, inner);
  if (!(expression instanceof expressions.InfixExpression)) throw unsupported(expression.token);
  const { left, operator, right } = expression;
  if (operator === "&&" || operator === "||") return chainOf(expression, operator, inner);
  return {
    kind: "compare",
    operator: operator as ComparisonOperator,
    left: operandOf(left, inner),
    right: operandOf(right, inner),
  };
}

/** `a && b && c` leans on one side as deep as it is long; its length is not nesting. */
function chainOf(
  expression: InstanceType<typeof expressions.InfixExpression>,
  operator: "&&" | "||",
  reading: Reading,
): Test {
  const links: Expression[] = [];
  const open: Expression[] = [expression];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next instanceof expressions.InfixExpression && next.operator === operator) open.push(next.right, next.left);
    else links.push(next);
  }
  const kind = operator === "&&" ? "and" : "or";
  const tests = links.map((link) => testOf(link, reading));
  return { kind, tests };
}

function patternOf(call: InstanceType<typeof expressions.FunctionExtension>, reading: Reading): Test {
  const [text, pattern] = call.args;
  if ((call.name !== "match" && call.name !== "search") || text === undefined || pattern === undefined) {
    throw unsupported(call.token);
  }
  const whole = call.name === "match";
  const source = operandOf(pattern, reading);
  const known = source.kind === "literal" && typeof source.value === "string" ? source.value : undefined;
  return {
    kind: "pattern",
    whole,
    text: operandOf(text, reading),
    pattern: known === undefined ? source : compilePattern(known, whole ? "whole" : "part"),
  };
}

function operandOf(expression: Expression, reading: Reading): Operand {
  if (expression instanceof expressions.NullLiteral) return { kind: "literal", value: null };
  if (
    expression instanceof expressions.StringLiteral ||
    expression instanceof expressions.NumberLiteral ||
    expression instanceof expressions.BooleanLiteral
  ) {
    return { kind: "literal", value: expression.value };
  }
  if (expression instanceof expressions.FilterQuery) return { kind: "node", query: queryOf(expression, reading) };
  if (expression instanceof expressions.FunctionExtension) return callOf(expression, deeper(reading));
  throw unsupported(expression.token);
}

function callOf(call: InstanceType<typeof expressions.FunctionExtension>, reading: Reading): Operand {
  const [argument] = call.args;
  if (argument !== undefined && call.name === "length") return { kind: "length", of: operandOf(argument, reading) };
  if ((call.name === "count" || call.name === "value") && argument instanceof expressions.FilterQuery) {
    return { kind: call.name, query: queryOf(argument, reading) };
  }
  throw unsupported(call.token);
}

function queryOf(expression: InstanceType<typeof expressions.FilterQuery>, reading: Reading): Query {
  const segments = segmentsOf(expression.path, reading);
  if (expression instanceof expressions.RootQuery) return reading.plan(segments, expression.token.index);
  return { start: { kind: "current" }, segments, hops: singularHops(segments) };
}

function deeper(reading: Reading): Reading {
  if (reading.depth >= MAX_POINTER_NESTING) {
    throw pointerLimit("nesting", `A pointer may nest ${String(MAX_POINTER_NESTING)} levels at most.`);
  }
  return { plan: reading.plan, depth: reading.depth + 1 };
}

type Position = { readonly index: number; readonly value: string };

function unsupported(token: Position): Error {
  return new UnsupportedExpression(token);
}

class UnsupportedExpression extends Error {
  readonly token: Position;
  constructor(token: Position) {
    super(`unexpected '${token.value}'`);
    this.token = token;
  }
}

function syntaxError(source: string, thrown: unknown): ErgonError {
  const position =
    thrown instanceof JSONPathError || thrown instanceof UnsupportedExpression ? thrown.token.index : undefined;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return planError("pointer_invalid", `"${source}" is not a JSONPath query (RFC 9535): ${reason}.`, {
    details: position === undefined ? { jsonPath: source } : { jsonPath: source, position },
    cause: thrown,
  });
}
