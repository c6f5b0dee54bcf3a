import { describe, expect, it } from "vitest";
import { call, messages, plan, said } from "../preflight.fixture.ts";

const save = (id: string, saveAs: string, parts: object = {}): object => call(id, { saveAs, ...parts });
const parallel = (id: string, ...lists: object[][]): object => ({
  id,
  type: "parallel_branch",
  branches: lists.map((steps) => ({ steps })),
});
const loop = (id: string, itemAlias: string, ...loopPlan: object[]): object => ({
  id,
  type: "loop_over_items",
  collectionPath: { jsonPath: "$.promptInput.items" },
  itemAlias,
  loopPlan,
});

describe("branches", () => {
  it("may not save to one key, however deep", () => {
    const conflict = plan([
      parallel("p", [save("a", "k")], [loop("l", "item", parallel("q", [save("b", "k")], [save("c", "x")]))]),
    ]);
    expect(said(conflict)).toEqual([
      "error branch_write_conflict $.steps[0].branches[1].steps[0].loopPlan[0].branches[0].steps[0].saveAs",
    ]);
    expect(messages(conflict, "branch_write_conflict")[0]).toContain(
      'Step "a" ($.steps[0].branches[0].steps[0]) saves to "k" in another branch of "p"',
    );
  });

  it("are told at the innermost place, once", () => {
    const inner = plan([parallel("p", [parallel("q", [save("a", "k")], [save("b", "k")])], [save("c", "x")])]);
    expect(said(inner)).toEqual([
      "error branch_write_conflict $.steps[0].branches[0].steps[0].branches[1].steps[0].saveAs",
    ]);
  });

  it("may share what comes by itself, and one branch may save a key twice", () => {
    const twice = [save("a", "k", { nextStepId: "b" }), save("b", "k")];
    expect(said(plan([parallel("p", twice, [call("c")])]))).toEqual([]);
  });
});

describe("a loop's alias", () => {
  it("had better not be the one of a loop around it, nor its index", () => {
    expect(said(plan([loop("l", "item", loop("m", "item", call("a")))]))).toEqual([
      "warning alias_shadowed $.steps[0].loopPlan[0].itemAlias",
    ]);
    expect(said(plan([loop("l", "item", parallel("p", [loop("m", "item_index", call("a"))]))]))).toEqual([
      "warning alias_shadowed $.steps[0].loopPlan[0].branches[0].steps[0].itemAlias",
    ]);
    expect(said(plan([parallel("p", [loop("l", "item", call("a"))], [loop("m", "item", call("b"))])]))).toEqual([]);
  });

  it("may not be saved to inside the loop", () => {
    expect(said(plan([loop("l", "item", parallel("p", [save("a", "item")], [save("b", "item_index")]))]))).toEqual([
      "error alias_overwritten $.steps[0].loopPlan[0].branches[0].steps[0].saveAs",
      "error alias_overwritten $.steps[0].loopPlan[0].branches[1].steps[0].saveAs",
    ]);
  });
});

describe("a key that comes by itself", () => {
  it("may not be saved to", () => {
    const tool = (call("x") as { toolId: string }).toolId;
    for (const key of ["human_input", "finalResponse", `${tool}_result`]) {
      expect(said(plan([save("a", key)]))).toEqual(["error reserved_key $.steps[0].saveAs"]);
    }
    expect(said(plan([save("a", "my_result")]))).toEqual([]);
  });
});
