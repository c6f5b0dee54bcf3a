import type { Json, JsonObject } from "../../src/schema/values/json.ts";
import type { Condition } from "../../src/schema/plan.ts";
import type { Choice } from "./choice.ts";

/** What a value is expected to be; a failed or skipped step may leave another, or none. */
export type Kind = "number" | "string" | "object" | "answer" | "echo" | "any" | Iterable;
type Iterable = "numbers" | "strings" | "objects" | "list" | "lists";

/** A place that a step can read. `sure`: there unless an earlier step failed and was skipped. */
export type Readable = { readonly path: string; readonly kind: Kind; readonly sure: boolean };

/** What can be read where a step stands. */
export type Sight = { readonly places: readonly Readable[]; readonly calledStepIds: readonly string[] };

/** A `ContextValuePointer` that is JSON for the compiler too. */
export type Pointer = { jsonPath: string; first?: true; default?: Json };

type Wanted = "number" | "string" | "iterable" | "any";

export function randomPointer(choice: Choice, sight: Sight, wanted: Wanted): Pointer {
  const readable = pick(choice, sight, wanted);
  const fallback = { default: randomLiteral(choice, readable.kind) };
  if (!isQuery(readable.path)) {
    return { jsonPath: readable.path, ...(choice.percent(readable.sure ? 15 : 88) ? fallback : {}) };
  }
  if (wanted !== "any" || !choice.percent(40)) return { jsonPath: readable.path };
  return { jsonPath: readable.path, first: true, ...(choice.percent(85) ? fallback : {}) };
}

/** At most `limit` items: loops in loops multiply. */
export function randomCollection(choice: Choice, sight: Sight, limit: number): [Pointer, Kind] {
  // What is surely no list, as an index, fails preflight.
  const unsure = { ...sight, places: sight.places.filter(({ path }) => !path.endsWith("_index']")) };
  if (choice.percent(4)) return [randomPointer(choice, unsure, "number"), "any"];
  const input = { places: sight.places.filter(isInput), calledStepIds: [] };
  const readable = pick(choice, choice.percent(40) ? input : sight, "iterable");
  const itemKind = ITEM_KIND[isIterable(readable.kind) ? readable.kind : "list"];
  if (isQuery(readable.path)) return [{ jsonPath: readable.path }, itemKind];
  if (limit < 5 || choice.percent(10)) return [{ jsonPath: `${readable.path}[0:${String(limit)}]` }, itemKind];
  const pointer = { jsonPath: readable.path };
  return [choice.percent(readable.sure ? 10 : 85) ? { ...pointer, default: [1, 2] } : pointer, itemKind];
}

export function randomArguments(choice: Choice, sight: Sight): JsonObject {
  const count = choice.below(4);
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${String(at)}`, argument(choice, sight, 2)]));
}

/** Only what surely resolves, for the places where a failure would make no sense. */
export function sureValue(choice: Choice, sight: Sight): Pointer {
  return { jsonPath: choice.of(sight.places.filter(isInput)).path };
}

/** A human step's message must not fail, so it shows only what is surely there. */
export function randomMessage(choice: Choice, sight: Sight, mayFail: boolean): string {
  const shown = Array.from({ length: choice.below(3) }, () => {
    const surely = sureValue(choice, sight);
    const pointer = mayFail && choice.percent(30) ? pick(choice, sight, "any").path : surely.jsonPath;
    return choice.percent(50) ? `{{${pointer}}}` : `{{ ${pointer} }}`;
  });
  return ["Look:", ...shown, choice.of(["", "ok?", "{ }"])].join(" ");
}

export function randomCondition(choice: Choice, sight: Sight): Condition {
  const number = (): Json => randomPointer(choice, sight, "number");
  switch (choice.below(11)) {
    case 0:
      return { left: randomPlace(choice, sight), operator: choice.of(["exists", "not_exists"]) };
    case 1:
    case 2:
      return { left: number(), operator: choice.of(ORDERINGS), right: choice.below(8) };
    case 3:
      return { left: choice.below(8), operator: choice.of(ORDERINGS), right: number() };
    case 4:
      return { left: randomPointer(choice, sight, "string"), operator: choice.of(ORDERINGS), right: "b" };
    case 5:
      return {
        left: randomPointer(choice, sight, "iterable"),
        operator: "contains",
        right: randomLiteral(choice, "any"),
      };
    case 6:
      return {
        left: randomPointer(choice, sight, "string"),
        operator: "in",
        right: choice.of(["abc", ["a", "yes"], { a: 1 }]),
      };
    case 7:
      return {
        left: randomPointer(choice, sight, "string"),
        operator: "matches",
        right: choice.of(["^a", "b", "e?s$"]),
      };
    case 8:
      return {
        left: randomPointer(choice, sight, "any"),
        operator: choice.of(ORDERINGS),
        right: randomLiteral(choice, "any"),
      };
    default: {
      const right = choice.percent(50) ? randomPointer(choice, sight, "any") : randomLiteral(choice, "any");
      return { left: randomPointer(choice, sight, "any"), operator: choice.of(["equals", "not_equals"]), right };
    }
  }
}

const ORDERINGS = ["greater_than", "less_than", "greater_or_equal", "less_or_equal"] as const;
const ITEM_KIND = { numbers: "number", strings: "string", objects: "object", lists: "numbers", list: "any" } as const;
const QUERY = /\*|\?|:\d|\d:|\.\./;

function isInput({ path }: Readable): boolean {
  return path.startsWith("$.promptInput");
}

function isQuery(path: string): boolean {
  return QUERY.test(path.replaceAll(/'[^']*'/g, ""));
}

function isIterable(kind: Kind): kind is Iterable {
  return kind in ITEM_KIND;
}

function randomPlace(choice: Choice, sight: Sight): Pointer {
  if (choice.percent(25)) return { jsonPath: `$.history[${String(choice.below(4))}]` };
  return { jsonPath: pick(choice, sight, "any").path };
}

function pick(choice: Choice, sight: Sight, wanted: Wanted): Readable {
  const all = [...sight.places.flatMap(within), ...historyPlaces(choice, sight)];
  const fitting = all.filter(
    ({ kind }) => wanted === "any" || wanted === kind || (wanted === "iterable" && isIterable(kind)),
  );
  const made = fitting.filter((place) => !isInput(place));
  return choice.of(made.length > 0 && choice.percent(60) ? made : fitting);
}

/** The place itself and what its kind lets one find inside. */
function within(place: Readable): Readable[] {
  const inside = (suffix: string, kind: Kind, sure = place.sure): Readable => ({
    path: place.path + suffix,
    kind,
    sure,
  });
  switch (place.kind) {
    case "object":
      return [place, inside(".n", "number"), inside(".s", "string"), inside(".list", "numbers")];
    case "answer":
      return [inside(".choice", "string"), inside(".n", "number"), inside(".list", "numbers"), inside(".value", "any")];
    case "echo":
      return [place, inside(".echo", "any"), inside(".echo.shape", "string", false)];
    case "numbers":
      return [place, inside("[0]", "number", false), inside("[-1]", "number", false), inside("[?@ > 2]", "numbers")];
    case "objects":
      return [place, inside("[*].n", "numbers"), inside("[?@.n >= 2].s", "strings"), inside("[0]", "object", false)];
    case "list":
      return [place, inside("[1:3]", "list"), inside("[0]", "any", false)];
    case "lists":
      return [place, inside("[*][0]", "numbers"), inside("[::2]", "lists")];
    case "number":
    case "string":
    case "strings":
    case "any":
      return [place];
  }
}

/** Never a whole entry: its timestamp is not the plan's to decide. */
function historyPlaces(choice: Choice, { calledStepIds }: Sight): Readable[] {
  if (calledStepIds.length === 0) return [];
  const of = `$.history[?@.planStepId=='${choice.of(calledStepIds)}']`;
  return [
    { path: "$.history[0].result.output", kind: "any", sure: false },
    { path: "$.history[0].toolId", kind: "string", sure: false },
    { path: "$.history[-1].planStepId", kind: "string", sure: false },
    { path: `${of}.result.output`, kind: "list", sure: true },
    { path: `${of}.request.shape`, kind: "strings", sure: true },
    { path: "$.history[0:3].toolId", kind: "strings", sure: true },
    { path: "$.history[:4:2].result.output", kind: "list", sure: true },
    { path: "$.history[?@.result.error].planStepId", kind: "strings", sure: true },
    { path: "$.history[?search(@.planStepId, '[13579]$')].planStepId", kind: "strings", sure: true },
  ];
}

function argument(choice: Choice, sight: Sight, depth: number): Json {
  if (depth > 0 && choice.percent(12)) return [argument(choice, sight, depth - 1), argument(choice, sight, depth - 1)];
  if (depth > 0 && choice.percent(12)) return { inner: argument(choice, sight, depth - 1) };
  return choice.percent(60) ? randomPointer(choice, sight, "any") : randomLiteral(choice, "any");
}

function randomLiteral(choice: Choice, kind: Kind): Json {
  switch (kind) {
    case "number":
      return choice.below(8);
    case "string":
      return choice.of(["a", "b", "abc", "yes"]);
    case "numbers":
      return [choice.below(5)];
    case "strings":
    case "objects":
    case "list":
    case "lists":
      return [];
    case "object":
    case "answer":
    case "echo":
      return { n: choice.below(5), s: "d", list: [] };
    case "any":
      return choice.of<Json>([1, "a", null, true, 2.5, [1, [2]], { n: 1 }, "{{$.promptInput.n}}", "yes", 0, []]);
  }
}
