import type { Pattern } from "./pattern.ts";

/**
 * A JSONPath query as data. It keeps the parser's classes out of the engine, and says at compile time where a query
 * starts, so that only that part of the document is ever looked at.
 */
export type Query = {
  readonly start: Start;
  /** What is left of the path after the start. */
  readonly segments: readonly Segment[];
  /** The same as `segments`, when each of them names one child: a singular query. */
  readonly hops: readonly (string | number)[] | undefined;
};

export type Start =
  | { readonly kind: "current" }
  | { readonly kind: "all" }
  | { readonly kind: "context" }
  | { readonly kind: "context-key"; readonly key: string }
  | { readonly kind: "prompt-input" }
  | { readonly kind: "history-at"; readonly index: number }
  | { readonly kind: "history-step"; readonly stepId: string }
  | { readonly kind: "history-newest"; readonly limit: number };

export type Segment = { readonly descendant: boolean; readonly selectors: readonly Selector[] };

export type Selector =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | SliceSelector
  | { readonly kind: "wildcard" }
  | { readonly kind: "filter"; readonly test: Test };

export type SliceSelector = {
  readonly kind: "slice";
  readonly start: number | undefined;
  readonly stop: number | undefined;
  readonly step: number;
};

export type Test =
  | { readonly kind: "and" | "or"; readonly tests: readonly Test[] }
  | { readonly kind: "not"; readonly test: Test }
  | { readonly kind: "exists"; readonly query: Query }
  | {
      readonly kind: "compare";
      readonly operator: ComparisonOperator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | {
      readonly kind: "pattern";
      readonly whole: boolean;
      readonly text: Operand;
      /** Compiled beforehand when the pattern is a literal. */
      readonly pattern: Pattern | Operand;
    };

export type ComparisonOperator = "==" | "!=" | "<" | "<=" | ">" | ">=";

export type Operand =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "node"; readonly query: Query }
  | { readonly kind: "length"; readonly of: Operand }
  | { readonly kind: "count" | "value"; readonly query: Query };
