import fc from "fast-check";
import { FunctionExpressionType, JSONPathEnvironment } from "json-p3";
import { describe, expect, it } from "vitest";
import type { Json } from "../../schema/values/json.ts";
import { compilePointer } from "./compile.ts";
import { jsonEqual } from "./json-equal.ts";
import { blobId, createLazyView, jsonRef } from "./lazy-view.fixture.ts";
import type { MemoryView } from "./memory-view.ts";
import { resolvePointer, resolveWith } from "./resolve.ts";
import { compileTemplate, resolveTemplate } from "./template.ts";

const NAMES = ["a", "b", "c", "planStepId", "result", "__proto__", "constructor", "length"];
const name = fc.constantFrom(...NAMES);
const scalar = fc.oneof(fc.constantFrom<Json>(null, true, false, "", "a", "s1", "s2"), fc.integer({ min: -2, max: 4 }));

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 4 }),
    object(tie("value")),
  ),
}));
const entry = fc.record({
  planStepId: fc.constantFrom("s1", "s2"),
  toolId: fc.constantFrom("a", "b"),
  result: object(value),
});

const document = fc.record({
  context: object(value),
  promptInput: object(value),
  history: fc.array(entry, { maxLength: 6 }),
});

const index = fc.integer({ min: -4, max: 4 });
const { segments } = fc.letrec<{ segments: string; test: string }>((tie) => {
  const relative = fc.array(
    fc.oneof(
      name.map((n) => `['${n}']`),
      index.map((i) => `[${String(i)}]`),
    ),
    { maxLength: 2 },
  );
  const node = fc.oneof(
    relative.map((hops) => `@${hops.join("")}`),
    relative.map((hops) => `$.promptInput${hops.join("")}`),
    relative.map((hops) => `$.context${hops.join("")}`),
  );
  const literal = fc.oneof(fc.constantFrom("null", "true", "false", "'a'", "'s1'", '"s2"'), index.map(String));
  const query = tie("segments").map((path) => `@${path}`);
  const operand = fc.oneof(
    node,
    literal,
    node.map((n) => `length(${n})`),
    query.map((q) => `count(${q})`),
    query.map((q) => `value(${q})`),
  );
  const compare = fc
    .tuple(operand, fc.constantFrom("==", "!=", "<", "<=", ">", ">="), operand)
    .map((parts) => parts.join(" "));
  const pattern = fc.tuple(fc.constantFrom("match", "search"), node, fc.constantFrom("a", "s.", "[as].?", ".*"));
  const test = fc.oneof(
    { maxDepth: 2 },
    compare,
    query,
    pattern.map(([call, text, source]) => `${call}(${text}, '${source}')`),
    tie("test").map((inner) => `!(${inner})`),
    fc
      .tuple(tie("test"), fc.constantFrom("&&", "||"), tie("test"))
      .map(([left, and, right]) => `(${left}) ${and} ${right}`),
  );
  const part = fc.option(index, { nil: undefined }).map((i) => (i === undefined ? "" : String(i)));
  const selector = fc.oneof(
    { depthSize: "small" },
    name.map((n) => `'${n}'`),
    index.map(String),
    fc.constant("*"),
    fc.tuple(part, part, part).map((parts) => parts.join(":")),
    tie("test").map((inner) => `?${inner}`),
  );
  const bracket = fc.array(selector, { minLength: 1, maxLength: 2 }).map((all) => `[${all.join(",")}]`);
  const segment = fc.oneof(
    bracket,
    bracket.map((all) => `..${all}`),
    name.map((n) => `['${n}']`),
  );
  return { test, segments: fc.array(segment, { maxLength: 3, depthIdentifier: "path" }).map((all) => all.join("")) };
});
const path = fc
  .tuple(
    fc.constantFrom(
      "$",
      "$.context",
      "$.promptInput",
      "$.history",
      "$.history[?@.planStepId=='s1']",
      "$.history[1]",
      "$.history[:3]",
    ),
    segments,
  )
  .map(([root, rest]) => root + rest)
  .filter((text) => isComparable(text));

const library = new JSONPathEnvironment({ maxRecursionDepth: 1_000 });
// The library's own two also match what is not a string.
for (const call of ["match", "search"]) {
  library.functionRegister.set(call, {
    argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
    returnType: FunctionExpressionType.LogicalType,
    call: (text, source) =>
      typeof text === "string" && new RegExp(call === "match" ? `^(?:${String(source)})$` : String(source)).test(text),
  });
}

describe("for any document and any query (R1, R2, R3)", () => {
  it("a pointer finds what the plain library finds in the whole document, whatever part of it is in blobs or not loaded", async () => {
    await fc.assert(
      fc.asyncProperty(document, path, fc.infiniteStream(fc.boolean()), async (whole, jsonPath, coins) => {
        const nodes = library.query(jsonPath, asSeen(whole)).values();
        const pointer = compilePointer(jsonPath);
        const lazy = createLazyView(scatter(whole, coins));
        const all = await resolveWith(() => resolvePointer(pointer, lazy.view), lazy.load);
        const first = await resolveWith(() => resolvePointer(pointer, lazy.view, { first: true }), lazy.load);
        const expected = pointer.singular ? nodes[0] : nodes;
        expect(all).toEqual(expected === undefined ? { kind: "absent" } : { kind: "value", value: expected });
        expect(first).toEqual(nodes[0] === undefined ? { kind: "absent" } : { kind: "value", value: nodes[0] });
      }),
      { numRuns: 2_000 },
    );
  });

  it("following references only on the way changes nothing but the references that are left", async () => {
    await fc.assert(
      fc.asyncProperty(document, path, fc.infiniteStream(fc.boolean()), async (whole, jsonPath, coins) => {
        const memory = scatter(whole, coins);
        const lazy = createLazyView(memory);
        const pointer = compilePointer(jsonPath);
        const through = await resolveWith(() => resolvePointer(pointer, lazy.view, { deref: "through" }), lazy.load);
        const end = await resolveWith(() => resolvePointer(pointer, lazy.view), lazy.load);
        expect(gather(through, memory.blobs ?? new Map())).toEqual(end);
      }),
      { numRuns: 500 },
    );
  });
});

describe("for any value", () => {
  it("a template without pointers resolves to the value itself", () => {
    fc.assert(
      fc.property(value, (literal) => {
        const { view } = createLazyView({});
        expect(resolveTemplate(compileTemplate(literal), view)).toEqual({ kind: "value", value: literal });
      }),
    );
  });

  it("equality does not see the order of keys, and is the equality of canonical texts", () => {
    fc.assert(
      fc.property(value, value, (left, right) => {
        expect(jsonEqual(left, shuffled(left))).toBe(true);
        expect(jsonEqual(left, right)).toBe(
          JSON.stringify(shuffled(left, true)) === JSON.stringify(shuffled(right, true)),
        );
      }),
    );
  });
});

/**
 * Leaves out the paths that are refused, those that the parser cannot read (a list with a filter, inside a call), and
 * those that the library gets wrong: in a filter inside a filter, it takes `$` for the inner filter's subject.
 */
function isComparable(text: string): boolean {
  let depth = 0;
  for (const ch of text) {
    if (ch === "[") depth += 1;
    else if (ch === "]") depth -= 1;
    else if (ch === "$" && depth > 1) return false;
  }
  try {
    compilePointer(text);
    return true;
  } catch {
    return false;
  }
}

type Whole = { context: Json; promptInput: Json; history: { planStepId: string }[] };

/** Own keys only, `__proto__` included, as JSON.parse makes them. */
function object(item: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  return fc.array(fc.tuple(name, item), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));
}

function asSeen({ context, promptInput, history }: Whole) {
  return { context, history: history.toReversed(), promptInput } as Parameters<typeof library.query>[1];
}

/** Moves parts of the document into blobs, some of them inside each other. */
function scatter({ context, promptInput, history }: Whole, coins: Iterator<boolean, unknown>): MemoryView {
  const blobs = new Map<string, unknown>();
  const move = (part: unknown, depth = 0): unknown => {
    const inside = mapChildren(part, (child) => move(child, depth + 1));
    const coin = flip(coins) && flip(coins);
    if (depth === 0 || !coin) return inside;
    const id = `n${String(blobs.size)}`;
    blobs.set(blobId(id), inside);
    return jsonRef(id, 1);
  };
  return {
    context: move(context) as Record<string, unknown>,
    promptInput: move(promptInput),
    history: history.map((item) => mapChildren(item, (child) => (typeof child === "string" ? child : move(child, 1)))),
    blobs,
  };
}

function flip(coins: Iterator<boolean, unknown>): boolean {
  const next = coins.next();
  return next.done !== true && next.value;
}

function gather(part: unknown, blobs: ReadonlyMap<string, unknown>): unknown {
  const id = typeof part === "object" && part !== null && "$blob" in part ? String(part.$blob) : undefined;
  return id === undefined ? mapChildren(part, (child) => gather(child, blobs)) : gather(blobs.get(id), blobs);
}

function mapChildren(part: unknown, map: (child: unknown) => unknown): unknown {
  if (Array.isArray(part)) return part.map(map);
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([key, child]) => [key, map(child)] as const));
}

function shuffled(part: unknown, sorted = false): unknown {
  if (Array.isArray(part)) return part.map((item) => shuffled(item, sorted));
  if (typeof part !== "object" || part === null) return part;
  const entries = Object.entries(part).map(([key, item]) => [key, shuffled(item, sorted)] as const);
  return Object.fromEntries(sorted ? entries.toSorted(([a], [b]) => (a < b ? -1 : 1)) : entries.toReversed());
}
