import { parseQuery } from "./parse.ts";
import { planQuery, type PointerRead } from "./plan-query.ts";
import type { Query } from "./query.ts";

export type CompiledPointer = PointerRead & {
  readonly source: string;
  /** One node or none, and then the value is the node itself; else the value is an array. */
  readonly singular: boolean;
  readonly query: Query;
  /** What the pointer looks at: its own path first, then each absolute query inside its filters. */
  readonly reads: readonly PointerRead[];
};

/**
 * Throws `pointer_invalid` {jsonPath, position?}, `pattern_invalid` for a pattern that cannot be, and
 * `pointer_limit`.
 */
export function compilePointer(jsonPath: string): CompiledPointer {
  const inner: PointerRead[] = [];
  const query = parseQuery(jsonPath, (segments, position) => {
    const planned = planQuery(segments, jsonPath, position);
    inner.push(planned.read);
    return planned.query;
  });
  // Filters are planned before the path that holds them.
  const own = inner.pop();
  if (own === undefined) throw new Error("a query was parsed without being planned");
  const singular = query.hops !== undefined;
  return { ...own, source: jsonPath, singular, query, reads: [own, ...inner] };
}
