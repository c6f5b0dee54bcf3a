import { describe, expect, it } from "vitest";
import { blobId, createLazyView, jsonRef } from "./lazy-view.fixture.ts";
import { MAX_POINTER_DEPTH, MAX_POINTER_LOADS } from "./limits.ts";
import { createMemoryView, type MemoryView } from "./memory-view.ts";
import { resolveWith } from "./resolve.ts";
import { compileMessage, compileTemplate, resolveTemplate } from "./template.ts";

const memory: MemoryView = {
  context: { name: "Ada", rows: [{ id: 1 }, { id: 2 }], none: null, data: jsonRef("data") },
  promptInput: { n: 5 },
  history: [{ planStepId: "a", result: { output: "newest" } }],
  blobs: new Map<string, unknown>([[blobId("data"), { title: "T" }]]),
};
const view = createMemoryView(memory);

describe("a template", () => {
  it("puts values in place of pointers at any depth and keeps everything else", () => {
    const template = compileTemplate({
      who: { jsonPath: "$.context.name" },
      deep: [{ ids: { jsonPath: "$.context.rows[*].id" } }, "text", 1, null, true],
      first: { jsonPath: "$.context.rows[?@.id>1].id", first: true },
      nothing: { jsonPath: "$.context.none" },
    });
    expect(resolveTemplate(template, view)).toEqual({
      kind: "value",
      value: { who: "Ada", deep: [{ ids: [1, 2] }, "text", 1, null, true], first: 2, nothing: null },
    });
  });

  it("keeps a part without pointers as it is, the same object", () => {
    const literal = { list: [1, { two: 2 }] };
    const found = resolveTemplate(compileTemplate({ literal, who: { jsonPath: "$.context.name" } }), view);
    expect(found).toMatchObject({ kind: "value", value: { who: "Ada" } });
    expect(found.kind === "value" && (found.value as { literal: unknown }).literal).toBe(literal);
    expect(compileTemplate(literal)).toEqual({ kind: "literal", value: literal });
  });

  it.each([
    { jsonPath: "$.context.name", other: 1 },
    { jsonPath: 5 },
    { jsonPath: "$.context.name", first: "yes" },
    { path: "$.context.name" },
    { first: true },
  ])("takes an object for data when it is not exactly a pointer: %j", (value) => {
    expect(resolveTemplate(compileTemplate({ value }), view)).toEqual({ kind: "value", value: { value } });
  });

  it("leaves text in strings alone", () => {
    const value = { a: "{{$.context.name}}", b: "$.context.name" };
    expect(resolveTemplate(compileTemplate(value), view)).toEqual({ kind: "value", value });
  });

  it("takes the default where a pointer finds nothing, and takes it as it is written", () => {
    const fallback = { jsonPath: "$.context.name" };
    const template = compileTemplate({
      a: { jsonPath: "$.context.nowhere", default: fallback },
      b: { jsonPath: "$.context.name", default: 1 },
      c: { jsonPath: "$.context.none", default: 1 },
      d: { jsonPath: "$.context.rows[?@.id>9]", first: true, default: null },
      e: { jsonPath: "$.context.rows[?@.id>9]", default: 1 },
    });
    expect(resolveTemplate(template, view)).toEqual({
      kind: "value",
      value: { a: fallback, b: "Ada", c: null, d: null, e: [] },
    });
  });

  it("says which pointer found nothing, and where it stands", () => {
    const template = compileTemplate({ list: [{ "a key": { jsonPath: "$.context.nowhere" } }] });
    expect(() => resolveTemplate(template, view)).toThrow(
      expect.objectContaining({
        code: "pointer_unresolved",
        details: { jsonPath: "$.context.nowhere", where: '$.list[0]["a key"]' },
      }),
    );
  });

  it("refuses a pointer that is no JSONPath when it is compiled", () => {
    expect(() => compileTemplate({ a: [{ jsonPath: "nope" }] })).toThrow(
      expect.objectContaining({ code: "pointer_invalid" }),
    );
  });

  it("asks for everything that is missing at once", async () => {
    const lazy = createLazyView(memory);
    const template = compileTemplate({
      a: { jsonPath: "$.context.data.title" },
      b: { jsonPath: "$.context.data" },
      c: { jsonPath: "$.history[0].result.output" },
      d: { jsonPath: "$.promptInput.n" },
    });
    expect(resolveTemplate(template, lazy.view)).toMatchObject({ loads: [{ kind: "blob" }, { kind: "history-at" }] });
    const found = await resolveWith(() => resolveTemplate(template, lazy.view), lazy.load);
    expect(found).toEqual({ kind: "value", value: { a: "T", b: { title: "T" }, c: "newest", d: 5 } });
    expect(lazy.loaded).toHaveLength(2);
  });

  it("does not take a default for a value that is only not loaded yet", () => {
    const template = compileTemplate([
      { jsonPath: "$.context.data.title" },
      { jsonPath: "$.context.data.title", default: "wrong" },
    ]);
    expect(resolveTemplate(template, createLazyView(memory).view)).toMatchObject({ kind: "needs" });
  });

  it("can leave the references that pointers end at in place", () => {
    const template = compileTemplate({ data: { jsonPath: "$.context.data" } });
    const found = resolveTemplate(template, createLazyView(memory).view, { deref: "through" });
    expect(found).toEqual({ kind: "value", value: { data: jsonRef("data") } });
  });

  it("shares one allowance of loads between its pointers", () => {
    const names = Array.from({ length: MAX_POINTER_LOADS + 1 }, (_, n) => `b${String(n)}`);
    const full = createMemoryView({
      context: Object.fromEntries(names.map((name) => [name, jsonRef(name, 1)])),
      blobs: new Map(names.map((name) => [blobId(name), 1])),
    });
    const pointers = names.map((name) => ({ jsonPath: `$.context.${name}` }));
    expect(resolveTemplate(compileTemplate(pointers.slice(1)), full)).toMatchObject({ kind: "value" });
    expect(() => resolveTemplate(compileTemplate(pointers), full)).toThrow(
      expect.objectContaining({ code: "pointer_limit" }),
    );
  });

  it("keeps a key named __proto__ a key", () => {
    const written = JSON.parse('{"__proto__": {"jsonPath": "$.context.name"}}') as unknown;
    expect(JSON.stringify(resolveTemplate(compileTemplate(written), view))).toBe(
      '{"kind":"value","value":{"__proto__":"Ada"}}',
    );
  });

  it("takes values nested to the limit and refuses one level more", () => {
    const nested = (levels: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level++) value = [value];
      return value;
    };
    expect(compileTemplate(nested(MAX_POINTER_DEPTH)).kind).toBe("literal");
    expect(() => compileTemplate(nested(MAX_POINTER_DEPTH + 1))).toThrow(
      expect.objectContaining({ code: "pointer_limit" }),
    );
  });
});

describe("a message", () => {
  it.each([
    ["Hello {{$.context.name}}!", "Hello Ada!"],
    ["{{$.context.name}}", "Ada"],
    ["{{ $.context.name }}{{$.promptInput.n}}", "Ada5"],
    ["{{$.promptInput.n}}", "5"],
    ["{{$.context.none}}", "null"],
    ["{{$.context.rows}}", '[{"id":1},{"id":2}]'],
    ["{{$.context.rows[*].id}}", "[1,2]"],
    ["{{$.context.rows[?@.id!='}}'].id}}", "[1,2]"],
    ["{{$.context.rows[?@.id!='it\\'s }} \"'].id}}", "[1,2]"],
    ["{{$.context.data.title}}", "T"],
    ["{{$.context.data}}", '{"title":"T"}'],
    ["no paths, {{name}}, {single}, {{ }}", "no paths, {{name}}, {single}, {{ }}"],
    ["\\{{$.context.name}}", "{{$.context.name}}"],
    ["\\\\{{$.context.name}}", "\\Ada"],
    ["\\\\\\{{$.context.name}}", "\\{{$.context.name}}"],
    ["C:\\dir\\{x}", "C:\\dir\\{x}"],
    ["\\{{name}}", "\\{{name}}"],
    ["{{{$.context.name}}}", "{Ada}"],
    ["", ""],
  ])("becomes text: %j", (message, value) => {
    expect(resolveTemplate(compileMessage(message), view)).toEqual({ kind: "value", value });
  });

  it("keeps the type of the value when it is a pointer object", () => {
    expect(resolveTemplate(compileMessage({ jsonPath: "$.promptInput.n" }), view)).toEqual({ kind: "value", value: 5 });
  });

  it("fills the strings inside an object, escapes too", () => {
    const template = compileMessage({ a: ["{{$.context.name}}"], b: ["\\{{$.x}}"] });
    expect(resolveTemplate(template, view)).toEqual({ kind: "value", value: { a: ["Ada"], b: ["{{$.x}}"] } });
  });

  it("says which path found nothing", () => {
    expect(() => resolveTemplate(compileMessage("Hi {{$.context.nowhere}}"), view)).toThrow(
      expect.objectContaining({ code: "pointer_unresolved", details: { jsonPath: "$.context.nowhere", where: "$" } }),
    );
  });

  it.each(["{{$.context.name", "{{$.context.name}", "{{$.context['}}']", "{{$context}}", "{{$.context.}}"])(
    "is refused when its path does not end or is none: %j",
    (message) => {
      expect(() => compileMessage(message)).toThrow(expect.objectContaining({ code: "pointer_invalid" }));
    },
  );

  it("waits for what is not loaded", async () => {
    const lazy = createLazyView(memory);
    const template = compileMessage("{{$.context.data.title}}: {{$.history[0].result.output}}");
    const found = await resolveWith(() => resolveTemplate(template, lazy.view), lazy.load);
    expect(found).toEqual({ kind: "value", value: "T: newest" });
  });
});
