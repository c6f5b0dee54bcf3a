import type { PositionRange } from "../../../ports/state-store.ts";
import { partAt } from "../../position.ts";
import type { ListPlace } from "../../visits.ts";

/** One level of enclosing lists: the step visited at `position` opened child `index`, whose context is under `scope`. */
export type Enclosing = { readonly position: string; readonly index: number; readonly scope: string };

/** The branches and turns that enclose a list, outermost first; empty for the root list. */
export function enclosing(place: ListPlace): readonly Enclosing[] {
  const levels: Enclosing[] = [];
  let at = partAt(place.prefix, 0).end;
  while (at < place.prefix.length) {
    const index = partAt(place.prefix, at);
    const child = partAt(place.prefix, index.end);
    levels.push({
      position: place.prefix.slice(0, index.end),
      index: child.value,
      scope: place.prefix.slice(0, child.end),
    });
    at = child.end;
  }
  return levels;
}

/**
 * The history that a visit sees: what was there where each enclosing branch began, and what its own list did before it.
 * Siblings lie between these ranges; what a loop's own turns did lies behind its position.
 */
export function visibleRanges(visit: {
  readonly place: ListPlace;
  readonly position: string;
}): readonly PositionRange[] {
  const ranges: PositionRange[] = [];
  let from = "";
  for (const level of enclosing(visit.place)) {
    ranges.push({ from, to: level.position });
    from = level.scope;
  }
  ranges.push({ from, to: visit.position });
  return ranges;
}
