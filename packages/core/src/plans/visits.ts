import type { Cursor, ListFrame } from "./cursor.ts";
import { encodePart, partAt } from "./position.ts";

/** Where a list stands: positions of its visits begin with `prefix`; its context is kept under `scope`. */
export type ListPlace = { readonly prefix: string; readonly scope: string };

/** The root list of a run. Its context is the session's own, which outlives the run. */
export function rootPlace(run: number): ListPlace {
  return { prefix: encodePart(run), scope: "" };
}

/** The list of branch or turn `index` of the step visited at `position`. */
export function childPlace(position: string, index: number): ListPlace {
  const prefix = position + encodePart(index);
  return { prefix, scope: prefix };
}

export function visitPosition(place: ListPlace, index: number): string {
  return place.prefix + encodePart(index);
}

export type Visit = { readonly place: ListPlace; readonly frame: ListFrame; readonly position: string };

/** Every open visit, enclosing ones first. */
export function* openVisits(cursor: Cursor): Generator<Visit> {
  yield* visitsBelow(cursor.root, rootPlace(cursor.run));
}

function* visitsBelow(frame: ListFrame, place: ListPlace): Generator<Visit> {
  const position = visitPosition(place, frame.index);
  yield { place, frame, position };
  if (frame.state.kind !== "spread") return;
  for (const [index, kid] of Object.entries(frame.state.kids))
    yield* visitsBelow(kid, childPlace(position, Number(index)));
}

/** The visits from the root to `position`; empty when no list is at that visit (any more). */
export function visitPath(cursor: Cursor, position: string): readonly Visit[] {
  const path: Visit[] = [];
  let frame = cursor.root;
  let place = rootPlace(cursor.run);
  for (;;) {
    const here = visitPosition(place, frame.index);
    path.push({ place, frame, position: here });
    if (here === position) return path;
    if (frame.state.kind !== "spread" || !position.startsWith(here)) return [];
    const index = partAt(position, here.length).value;
    const kid = frame.state.kids[String(index)];
    if (kid === undefined) return [];
    frame = kid;
    place = childPlace(here, index);
  }
}
