import { describe, expect, it } from "vitest";
import { compilePointer } from "./compile.ts";
import { HISTORY_SCAN_LIMIT, MAX_POINTER_LENGTH, MAX_POINTER_NESTING } from "./limits.ts";

describe("compilePointer", () => {
  it.each([
    ["$.context.dataset.columns", { root: "context", key: "dataset", singular: true }],
    ["$['context']['a key'][0]", { root: "context", key: "a key", singular: true }],
    ["$.context.a-b.c", { root: "context", key: "a-b", singular: true }],
    ["$.promptInput.names", { root: "promptInput", key: "names", singular: true }],
    ["$.promptInput", { root: "promptInput", singular: true }],
    ["$.context", { root: "context", singular: true }],
    ["$.context.rows[*].name", { root: "context", key: "rows", singular: false }],
    ["$.context..name", { root: "context", singular: false }],
    ["$.context['a','b']", { root: "context", singular: false }],
    ["$.context.rows[0,1]", { root: "context", key: "rows", singular: false }],
    ["$", { root: "all", singular: true }],
    ["$..name", { root: "all", singular: false }],
    ["$['context','promptInput']", { root: "all", singular: false }],
  ])("knows what %s looks at", (jsonPath, expected) => {
    const pointer = compilePointer(jsonPath);
    expect(pointer).toMatchObject({ source: jsonPath, ...expected });
    expect("key" in pointer).toBe("key" in expected);
  });

  it.each([
    ["$.history[0].result.output", { kind: "index", n: 0 }],
    ["$.history[4321]", { kind: "index", n: 4321 }],
    ['$.history[?(@.planStepId=="step1")].result.output', { kind: "step", stepId: "step1" }],
    ["$.history[?@.planStepId=='step1']", { kind: "step", stepId: "step1" }],
    ["$.history[?'step1' == @['planStepId']]", { kind: "step", stepId: "step1" }],
    ["$.history[?@.toolId=='t' && @.planStepId=='a' && @.result.output]", { kind: "step", stepId: "a" }],
    ["$.history[?(@.toolId=='t' && (@.planStepId=='a')) && @.x]", { kind: "step", stepId: "a" }],
    ["$.history[:5]", { kind: "newest", limit: 5 }],
    ["$.history[1:10:3]", { kind: "newest", limit: 10 }],
    ["$.history[0,7]", { kind: "newest", limit: 8 }],
    [`$.history[:${String(HISTORY_SCAN_LIMIT)}]`, { kind: "newest", limit: HISTORY_SCAN_LIMIT }],
  ])("answers %s exactly", (jsonPath, history) => {
    expect(compilePointer(jsonPath)).toMatchObject({ root: "history", history });
  });

  it.each([
    "$.history",
    "$.history[-1]",
    "$.history[*]",
    "$.history[-5:]",
    "$.history[5:]",
    "$.history[::-1]",
    "$.history[3:1:-1]",
    `$.history[:${String(HISTORY_SCAN_LIMIT + 1)}]`,
    "$.history..output",
    "$.history[?@.toolId=='t']",
    "$.history[?@.planStepId!='a']",
    "$.history[?!(@.planStepId=='a')]",
    "$.history[?@.planStepId=='a' || @.planStepId=='b']",
    "$.history[?@.planStepId==$.context.step]",
    "$.history[?@.request.planStepId=='a']",
    "$.history[?@.planStepId==1]",
    "$.history[?@.planStepId=='a', 0]",
    "$.*[0]",
  ])("marks %s as a scan, so that preflight can warn", (jsonPath) => {
    expect(compilePointer(jsonPath).history).toEqual({ kind: "scan" });
  });

  it("lists the absolute queries inside filters among the reads, the pointer's own first", () => {
    const pointer = compilePointer("$.context.rows[?@.id==$.promptInput.id && @.n > $.history[0].result.output]");
    expect(pointer.reads).toEqual([
      { root: "context", key: "rows" },
      { root: "promptInput", key: "id" },
      { root: "history", history: { kind: "index", n: 0 } },
    ]);
  });

  it.each([
    ["context.x", 0],
    ["", undefined],
    ["$.context.", undefined],
    ["$.context[", undefined],
    ["$.context[?@.a = 1]", undefined],
    ["$.context[(@.length-1)]", undefined],
    ["$.context[?@.a==1 ?? 2]", undefined],
    ["$.context[?constructor('x')()]", undefined],
    ["$.context[?!true]", undefined],
    ["$.context[?@.a == (@.b && @.c)]", undefined],
    ["$.context[?!length(@.a)]", undefined],
    ["$.elsewhere.x", 0],
    ["$[0]", 0],
    ["$.context[?@.a == $.elsewhere]", undefined],
  ])("refuses %s with its place", (jsonPath, position) => {
    const details: unknown = expect.objectContaining(position === undefined ? { jsonPath } : { jsonPath, position });
    expect(() => compilePointer(jsonPath)).toThrow(expect.objectContaining({ code: "pointer_invalid", details }));
  });

  it("says where a pointer may start when it starts elsewhere", () => {
    expect(() => compilePointer("$.ctx.x")).toThrow(/starts with \$\.context, \$\.history or \$\.promptInput/);
  });

  it("refuses a literal pattern that could never match", () => {
    expect(() => compilePointer("$.context.rows[?match(@.a, '(?=x)')]")).toThrow(
      expect.objectContaining({ code: "pattern_invalid" }),
    );
  });

  it("takes a path of the greatest length and refuses one more character", () => {
    const longest = `$.context.${"a".repeat(MAX_POINTER_LENGTH - "$.context.".length)}`;
    expect(compilePointer(longest).singular).toBe(true);
    expect(() => compilePointer(`${longest}a`)).toThrow(limit("length"));
  });

  it("takes filters nested to the limit and refuses one level more", () => {
    const nested = (levels: number): string => `$.context[?${"@[?".repeat(levels - 1)}@.a${"]".repeat(levels)}`;
    expect(compilePointer(nested(MAX_POINTER_NESTING)).singular).toBe(false);
    expect(() => compilePointer(nested(MAX_POINTER_NESTING + 1))).toThrow(limit("nesting"));
  });

  it.each([
    ["parentheses", `$.context[?${"(".repeat(900)}@.a${")".repeat(900)}]`],
    ["long conjunctions", `$.context[?${Array.from({ length: 250 }, () => "@.a").join(" && ")}]`],
  ])("does not take %s for nesting", (_what, jsonPath) => {
    expect(compilePointer(jsonPath).root).toBe("context");
  });

  it.each([
    ["negations", `$.context[?${"!".repeat(1_900)}@.a]`],
    ["filters", `$.context[?${"@[?".repeat(480)}@.a${"]".repeat(481)}`],
    ["calls", `$.context[?${"length(".repeat(200)}@.a${")".repeat(200)}>0]`],
  ])("refuses deep %s with a typed error instead of a full stack", (_what, jsonPath) => {
    expect(() => compilePointer(jsonPath)).toThrow(limit("nesting"));
  });
});

function limit(name: string): unknown {
  const details: unknown = expect.objectContaining({ limit: name });
  return expect.objectContaining({ code: "pointer_limit", details });
}
