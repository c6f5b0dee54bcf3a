import { describe, expect, it } from "vitest";
import { compilePointer } from "./compile.ts";
import { HISTORY_SCAN_LIMIT, MAX_POINTER_DEPTH, MAX_POINTER_NODES } from "./limits.ts";
import { createMemoryView, type MemoryView } from "./memory-view.ts";
import { type PointerOptions, resolvePointer } from "./resolve.ts";

const memory: MemoryView = {
  context: { name: "Ada", none: null, rows: [{ id: 1, ok: true }, { id: 2 }, { id: 3, ok: true }], empty: [] },
  promptInput: { id: 2, names: ["Ada"] },
  history: [
    { planStepId: "load", toolId: "t", result: { output: "first" } },
    { planStepId: "greet", toolId: "t", result: { output: "hello" } },
    { planStepId: "load", toolId: "t", result: { error: { code: "x" } } },
    { planStepId: "load", toolId: "t", result: { output: "last" } },
  ],
};

describe("a pointer", () => {
  it.each([
    ["$.context.name", "Ada"],
    ["$.context.none", null],
    ["$.context.rows[1].id", 2],
    ["$.context.rows[-1].id", 3],
    ["$.promptInput.names", ["Ada"]],
    ["$.promptInput", { id: 2, names: ["Ada"] }],
    ["$.context", memory.context],
    ["$.history[0].result.output", "last"],
    ["$.history[3].result.output", "first"],
    ["$.history[-1].result.output", "first"],
  ])("to one node gives the node: %s", (jsonPath, value) => {
    expect(resolve(jsonPath)).toEqual({ kind: "value", value });
  });

  it.each([
    ["$.context.rows[*].id", [1, 2, 3]],
    ["$.context.rows[?@.ok].id", [1, 3]],
    ["$.context.rows[?@.id==2]", [{ id: 2 }]],
    ["$.context.rows[?@.id==9]", []],
    ["$.context.rows[0:1].id", [1]],
    ["$.context.empty[*]", []],
    ["$.context.nowhere[*]", []],
    ["$.context..id", [1, 2, 3]],
    ["$.context.rows[?@.id==$.promptInput.id].id", [2]],
    ["$.context.rows[?@.id>$.context.rows[0].id].id", [2, 3]],
    ["$.promptInput.names[?@==$.context.name]", ["Ada"]],
    ["$.context[?@[?@.id==$.promptInput.id]][0].id", [1]],
    ['$.history[?(@.planStepId=="load")].result.output', ["last", "first"]],
    ["$.history[?@.planStepId=='load' && @.result.error].result.error.code", ["x"]],
    ["$.history[?@.toolId=='t'].planStepId", ["load", "load", "greet", "load"]],
    ["$.history[:2].planStepId", ["load", "load"]],
    ["$.history[0,2].planStepId", ["load", "greet"]],
    ["$.history[?@.planStepId=='nobody']", []],
    ["$['promptInput','context'].id", [2]],
    ["$..names", [["Ada"]]],
  ])("to a query gives an array, even of one element or none: %s", (jsonPath, value) => {
    expect(resolve(jsonPath)).toEqual({ kind: "value", value });
  });

  it.each(["$.context.nowhere", "$.context.name.x", "$.context.rows.length", "$.context.rows[3]", "$.history[4]"])(
    "to nothing is absent: %s",
    (jsonPath) => {
      expect(resolve(jsonPath)).toEqual({ kind: "absent" });
    },
  );

  it("with `first` gives the first match, or is absent when there is none", () => {
    expect(resolve("$.history[?@.planStepId=='load'].result.output", { first: true })).toEqual({
      kind: "value",
      value: "last",
    });
    expect(resolve("$.context.rows[?@.id==9]", { first: true })).toEqual({ kind: "absent" });
    expect(resolve("$.context.name", { first: true })).toEqual({ kind: "value", value: "Ada" });
  });

  it("gives the whole document for $", () => {
    const { context, promptInput, history = [] } = memory;
    const value = { context, promptInput, history: history.toReversed() };
    expect(resolve("$")).toEqual({ kind: "value", value });
  });

  it("shares what it finds with the view instead of copying it (R6)", () => {
    const found = resolve("$.context.rows");
    expect(found.kind === "value" && found.value).toBe(memory.context?.["rows"]);
  });
});

describe("names that JavaScript objects inherit (R4)", () => {
  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "length"])("are not found: %s", (name) => {
    const view = createMemoryView({ context: { a: {}, list: [1], text: "abc" } });
    for (const path of [
      `$.context.${name}`,
      `$.context.a.${name}`,
      `$.context.list.${name}`,
      `$.context.text.${name}`,
    ]) {
      expect(resolvePointer(compilePointer(path), view)).toEqual({ kind: "absent" });
      expect(resolvePointer(compilePointer(`${path}..*`), view)).toEqual({ kind: "value", value: [] });
    }
  });

  it("are found where a value owns them, and do not become prototypes on the way out", () => {
    const context = JSON.parse('{"a": {"__proto__": {"x": 1}, "constructor": 2}}') as Record<string, unknown>;
    const view = createMemoryView({ context });
    expect(resolvePointer(compilePointer("$.context.a.__proto__.x"), view)).toEqual({ kind: "value", value: 1 });
    expect(resolvePointer(compilePointer("$.context.a.constructor"), view)).toEqual({ kind: "value", value: 2 });
    const all = resolvePointer(compilePointer("$.context"), view);
    expect(JSON.stringify(all)).toBe('{"kind":"value","value":{"a":{"__proto__":{"x":1},"constructor":2}}}');
  });
});

describe("the history", () => {
  const history = Array.from({ length: HISTORY_SCAN_LIMIT + 5 }, (_, n) => ({
    planStepId: n === 0 ? "oldest" : "step",
    n,
  }));
  const view = createMemoryView({ history });

  it("is seen by a scan as its newest entries, exactly as many as the limit", () => {
    const found = resolvePointer(compilePointer("$.history[*].n"), view);
    expect(found).toMatchObject({ kind: "value" });
    expect(found.kind === "value" && found.value).toHaveLength(HISTORY_SCAN_LIMIT);
    expect(resolvePointer(compilePointer("$.history[?@.n==5].n"), view)).toMatchObject({ value: [5] });
    expect(resolvePointer(compilePointer("$.history[?@.n==4].n"), view)).toMatchObject({ value: [] });
  });

  it("is reached beyond that by index and by step", () => {
    const oldest = String(history.length - 1);
    expect(resolvePointer(compilePointer(`$.history[${oldest}].n`), view)).toMatchObject({ value: 0 });
    expect(resolvePointer(compilePointer("$.history[?@.planStepId=='oldest'].n"), view)).toMatchObject({ value: [0] });
  });
});

describe("bounds (R5)", () => {
  it("selects as many nodes as allowed and refuses one more", () => {
    const items = Array.from({ length: MAX_POINTER_NODES }, () => 0);
    const pointer = compilePointer("$.context.items[*]");
    const found = resolvePointer(pointer, createMemoryView({ context: { items } }));
    expect(found.kind === "value" && found.value).toHaveLength(MAX_POINTER_NODES);
    const more = createMemoryView({ context: { items: [...items, 0] } });
    expect(() => resolvePointer(pointer, more)).toThrow(limit("nodes"));
    expect(resolvePointer(pointer, more, { first: true })).toEqual({ kind: "value", value: 0 });
  });

  it("descends as deep as allowed and refuses one level more", () => {
    const pointer = compilePointer("$.context.deep..leaf");
    const at = (levels: number) => createMemoryView({ context: { deep: nested(levels) } });
    expect(resolvePointer(pointer, at(MAX_POINTER_DEPTH))).toEqual({ kind: "value", value: [1] });
    expect(() => resolvePointer(pointer, at(MAX_POINTER_DEPTH + 1))).toThrow(limit("depth"));
    expect(() => resolvePointer(compilePointer("$.context.deep"), at(MAX_POINTER_DEPTH + 1))).toThrow(limit("depth"));
  });

  it("ends a query that multiplies its own results", { timeout: 60_000 }, () => {
    const context = { rows: Array.from({ length: 3_000 }, (_, n) => ({ n, list: [n] })) };
    const pointer = compilePointer(
      "$.context.rows[?count($.context..*) > 1 && @.n == count($.context.rows[?@..*]..*)]",
    );
    expect(() => resolvePointer(pointer, createMemoryView({ context }))).toThrow(limit("work"));
  });
});

function resolve(jsonPath: string, options?: PointerOptions) {
  return resolvePointer(compilePointer(jsonPath), createMemoryView(memory), options);
}

/** An object that holds `leaf` that many levels below itself. */
function nested(levels: number): unknown {
  let value: unknown = { leaf: 1 };
  for (let level = 0; level < levels; level++) value = { down: value };
  return value;
}

function limit(name: string): unknown {
  const details: unknown = expect.objectContaining({ limit: name });
  return expect.objectContaining({ code: "pointer_limit", details });
}
