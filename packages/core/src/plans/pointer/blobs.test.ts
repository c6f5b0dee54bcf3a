import { describe, expect, it } from "vitest";
import { compilePointer } from "./compile.ts";
import { blobId, createLazyView, jsonRef } from "./lazy-view.fixture.ts";
import { MAX_POINTER_BYTES, MAX_POINTER_LOADS, MAX_REFERENCE_CHAIN } from "./limits.ts";
import { createMemoryView, type MemoryView } from "./memory-view.ts";
import { type PointerOptions, resolvePointer, resolveWith } from "./resolve.ts";

const image = { $blob: blobId("image"), bytes: 9, mediaType: "image/png" };
const memory: MemoryView = {
  context: { data: jsonRef("data"), image, list: [jsonRef("one"), jsonRef("two"), { name: "inline" }] },
  promptInput: { rows: jsonRef("rows") },
  history: [{ planStepId: "load", result: { output: jsonRef("data") } }],
  blobs: new Map<string, unknown>([
    [blobId("data"), { title: "T", bytes: "inside", nested: jsonRef("nested"), image }],
    [blobId("nested"), { deep: [10, 20] }],
    [blobId("rows"), [{ id: 1 }, { id: 2, more: jsonRef("nested") }]],
    [blobId("one"), { name: "one" }],
    [blobId("two"), { name: "two" }],
    [blobId("circle"), jsonRef("circle")],
    [blobId("tree"), { next: jsonRef("tree") }],
  ]),
};

describe("a blob reference on the way", () => {
  it.each([
    ["$.context.data.title", "T"],
    ["$.context.data.bytes", "inside"],
    ["$.context.data.nested.deep[1]", 20],
    ["$.history[0].result.output.title", "T"],
    ["$.history[?@.planStepId=='load'].result.output.title", ["T"]],
    ["$.promptInput.rows[1].id", 2],
    ["$.promptInput.rows[*].id", [1, 2]],
    ["$.promptInput.rows[?@.more.deep[0]==10].id", [2]],
    ["$.context.list[*].name", ["one", "two", "inline"]],
    ["$.context.list[?@.name=='two'].name", ["two"]],
    ["$.context.list[?length(@)==1].name", ["one", "two", "inline"]],
    ["$.context.list[?match(@.name, 't.o')].name", ["two"]],
    ["$.context.list[?@==$.context.list[1]].name", ["two"]],
    ["$.context..deep", [[10, 20]]],
    ["$.context.image.mediaType", "image/png"],
  ])("is followed: %s", async (jsonPath, value) => {
    expect(await resolveLazily(jsonPath)).toEqual({ kind: "value", value });
  });

  it("is loaded hop by hop, and nothing beside the path is loaded", async () => {
    const lazy = createLazyView(memory);
    const pointer = compilePointer("$.context.data.nested.deep");
    expect(resolvePointer(pointer, lazy.view)).toEqual({
      kind: "needs",
      loads: [{ kind: "blob", ref: jsonRef("data") }],
    });
    await resolveWith(() => resolvePointer(pointer, lazy.view), lazy.load);
    expect(lazy.loaded).toEqual([`blob ${blobId("data")}`, `blob ${blobId("nested")}`]);
  });

  it("is asked for together with its siblings, each once", () => {
    const answer = resolvePointer(
      compilePointer("$.context.list[?@.name=='two' || @.name=='one'].name"),
      createLazyView(memory).view,
    );
    expect(answer).toEqual({
      kind: "needs",
      loads: [
        { kind: "blob", ref: jsonRef("one") },
        { kind: "blob", ref: jsonRef("two") },
      ],
    });
  });

  it.each(["$.context.list[*].name", "$.context.list[?@.name=='one'].name", "$.context.list..name"])(
    "is loaded alone when only the first match is wanted: %s",
    async (jsonPath) => {
      const lazy = createLazyView(memory);
      const pointer = compilePointer(jsonPath);
      const answer = await resolveWith(() => resolvePointer(pointer, lazy.view, { first: true }), lazy.load);
      expect(answer).toEqual({ kind: "value", value: "one" });
      expect(lazy.loaded).toEqual([`blob ${blobId("one")}`]);
    },
  );

  it("is not loaded for a node that a filter might still leave out", async () => {
    const context = { rows: [{ flags: jsonRef("one"), data: jsonRef("data") }] };
    const lazy = createLazyView({ ...memory, context });
    const pointer = compilePointer("$.context.rows[?!@.flags.name]");
    const answer = await resolveWith(() => resolvePointer(pointer, lazy.view), lazy.load);
    expect(answer).toEqual({ kind: "value", value: [] });
    expect(lazy.loaded).toEqual([`blob ${blobId("one")}`]);
  });

  it("is a match of a negated filter only after it was looked into", async () => {
    expect(await resolveLazily("$.context.list[?!@.name].name", { first: true })).toEqual({ kind: "absent" });
    expect(await resolveLazily("$.context.list[?@.name!='one'].name", { first: true })).toMatchObject({ value: "two" });
  });
});

describe("a blob reference at the end", () => {
  it("gives way to its content, and so do the references inside", async () => {
    expect(await resolveLazily("$.context.data")).toEqual({
      kind: "value",
      value: { title: "T", bytes: "inside", nested: { deep: [10, 20] }, image },
    });
    expect(await resolveLazily("$.promptInput.rows[?@.more]")).toEqual({
      kind: "value",
      value: [{ id: 2, more: { deep: [10, 20] } }],
    });
    expect(await resolveLazily("$.promptInput")).toMatchObject({ value: { rows: [{ id: 1 }, { id: 2 }] } });
  });

  it("is returned itself, unloaded, when references are only followed on the way", () => {
    const { view } = createLazyView(memory);
    const through: PointerOptions = { deref: "through" };
    expect(resolvePointer(compilePointer("$.context.data"), view, through)).toMatchObject({ value: jsonRef("data") });
    expect(resolvePointer(compilePointer("$.context.list[*]"), view, through)).toMatchObject({
      value: [jsonRef("one"), jsonRef("two"), { name: "inline" }],
    });
  });

  it("stays a reference when it is not JSON", async () => {
    expect(await resolveLazily("$.context.image")).toEqual({ kind: "value", value: image });
    expect(await resolveLazily("$.context.image.bytes")).toEqual({ kind: "value", value: 9 });
  });

  it.each(["application/json; charset=utf-8", "Application/JSON", "application/geo+json"])(
    "knows %s as JSON",
    (mediaType) => {
      const context = { data: { ...jsonRef("data"), mediaType } };
      const view = createMemoryView({ ...memory, context });
      expect(resolvePointer(compilePointer("$.context.data.title"), view)).toMatchObject({ value: "T" });
    },
  );

  it("is an ordinary object when it only looks like a reference", () => {
    const context = {
      data: { ...jsonRef("data"), extra: 1 },
      short: { $blob: "abc", bytes: 1, mediaType: "application/json" },
    };
    const view = createMemoryView({ context });
    expect(resolvePointer(compilePointer("$.context.data.extra"), view)).toMatchObject({ value: 1 });
    expect(resolvePointer(compilePointer("$.context.short.bytes"), view)).toMatchObject({ value: 1 });
  });

  it("keeps keys named __proto__ when it is replaced inside an object", () => {
    const context = JSON.parse(`{"a": {"__proto__": 1, "ref": ${JSON.stringify(jsonRef("one"))}}}`) as Record<
      string,
      unknown
    >;
    const found = resolvePointer(compilePointer("$.context.a"), createMemoryView({ ...memory, context }));
    expect(JSON.stringify(found)).toBe('{"kind":"value","value":{"__proto__":1,"ref":{"name":"one"}}}');
  });
});

describe("bounds on references (R5)", () => {
  it("follows as many blobs as allowed and refuses one more", async () => {
    const pointer = compilePointer("$.context.list[*].n");
    const full = manyBlobs(MAX_POINTER_LOADS);
    const lazy = createLazyView(full);
    const answer = await resolveWith(() => resolvePointer(pointer, lazy.view), lazy.load);
    expect(answer.kind === "value" && answer.value).toHaveLength(MAX_POINTER_LOADS);
    expect(lazy.loaded).toHaveLength(MAX_POINTER_LOADS);
    const more = createMemoryView(manyBlobs(MAX_POINTER_LOADS + 1));
    expect(() => resolvePointer(pointer, more)).toThrow(limit("loads"));
  });

  it("stops a driver that never brings what was asked for", async () => {
    const { view } = createLazyView(memory);
    let asked = 0;
    const attempt = resolveWith(
      () => resolvePointer(compilePointer("$.context.data.title"), view),
      async (loads) => {
        asked += loads.length;
        await Promise.resolve();
      },
    );
    await expect(attempt).rejects.toThrow(limit("loads"));
    expect(asked).toBe(MAX_POINTER_LOADS);
  });

  it("brings in as many bytes as allowed and refuses one more", () => {
    const half = MAX_POINTER_BYTES / 2;
    const view = (bytes: number) =>
      createMemoryView({ ...memory, context: { list: [jsonRef("one", half), jsonRef("two", bytes)] } });
    expect(resolvePointer(compilePointer("$.context.list[*].name"), view(half))).toMatchObject({
      value: ["one", "two"],
    });
    expect(() => resolvePointer(compilePointer("$.context.list[*].name"), view(half + 1))).toThrow(limit("bytes"));
  });

  it("counts a blob each time that it becomes part of a value, since writing the value out will", () => {
    const context = { list: Array.from({ length: 5 }, () => jsonRef("one", MAX_POINTER_BYTES / 4)) };
    const view = createMemoryView({ ...memory, context });
    expect(resolvePointer(compilePointer("$.context.list[*].name"), view)).toMatchObject({ kind: "value" });
    expect(() => resolvePointer(compilePointer("$.context.list"), view)).toThrow(limit("bytes"));
  });

  it.each([0, 10])("does not let references that double at each level grow without end, at %s bytes each", (bytes) => {
    const blobs = new Map<string, unknown>([[blobId("l0"), "laugh"]]);
    for (let level = 1; level <= 40; level++) {
      const below = jsonRef(`l${String(level - 1)}`, bytes);
      blobs.set(blobId(`l${String(level)}`), [below, below]);
    }
    const view = createMemoryView({ context: { top: jsonRef("l40", bytes) }, blobs });
    expect(() => resolvePointer(compilePointer("$.context.top"), view)).toThrow(
      expect.objectContaining({ code: "pointer_limit" }),
    );
  });

  it("ends references that lead in a circle", () => {
    const view = createMemoryView({ ...memory, context: { a: jsonRef("circle"), b: jsonRef("tree") } });
    expect(() => resolvePointer(compilePointer("$.context.a"), view)).toThrow(limit("references"));
    expect(() => resolvePointer(compilePointer("$.context.b"), view)).toThrow(limit("depth"));
    expect(() => resolvePointer(compilePointer("$.context.b..x"), view)).toThrow(limit("depth"));
  });

  it("follows a chain of references up to the limit", () => {
    const chain = (length: number) => {
      const blobs = new Map<string, unknown>([[blobId("c0"), "end"]]);
      for (let at = 1; at < length; at++) blobs.set(blobId(`c${String(at)}`), jsonRef(`c${String(at - 1)}`));
      return createMemoryView({ context: { a: jsonRef(`c${String(length - 1)}`) }, blobs });
    };
    expect(resolvePointer(compilePointer("$.context.a"), chain(MAX_REFERENCE_CHAIN))).toMatchObject({ value: "end" });
    expect(() => resolvePointer(compilePointer("$.context.a"), chain(MAX_REFERENCE_CHAIN + 1))).toThrow(
      limit("references"),
    );
  });

  it("reports a blob that the store has lost, instead of an absent value", () => {
    const view = createMemoryView({ context: { data: jsonRef("gone") } });
    expect(() => resolvePointer(compilePointer("$.context.data.x"), view)).toThrow(
      expect.objectContaining({ code: "blob_not_found", details: { blobId: blobId("gone") } }),
    );
  });
});

describe("a history that is not in memory", () => {
  it.each([
    ["$.history[0].planStepId", ["history-at 0"]],
    ["$.history[?@.planStepId=='load'].planStepId", ["history-step load"]],
    ["$.history[:3].planStepId", ["history-newest 3"]],
    ["$.history[*].planStepId", ["history-newest 1000"]],
    ["$..planStepId", ["history-newest 1000"]],
  ])("is loaded only as far as %s needs it", async (jsonPath, loads) => {
    const lazy = createLazyView({ history: memory.history ?? [], promptInput: {} });
    const pointer = compilePointer(jsonPath);
    const answer = await resolveWith(
      () => resolvePointer(pointer, lazy.view, { deref: "through", first: true }),
      lazy.load,
    );
    expect(answer).toEqual({ kind: "value", value: "load" });
    expect(lazy.loaded.filter((key) => key.startsWith("history"))).toEqual(loads);
  });
});

async function resolveLazily(jsonPath: string, options?: PointerOptions) {
  const lazy = createLazyView(memory);
  const pointer = compilePointer(jsonPath);
  return resolveWith(() => resolvePointer(pointer, lazy.view, options), lazy.load);
}

function manyBlobs(count: number): MemoryView {
  const names = Array.from({ length: count }, (_, n) => `b${String(n)}`);
  return {
    context: { list: names.map((name) => jsonRef(name)) },
    blobs: new Map(names.map((name, n) => [blobId(name), { n }])),
  };
}

function limit(name: string): unknown {
  const details: unknown = expect.objectContaining({ limit: name });
  return expect.objectContaining({ code: "pointer_limit", details });
}
