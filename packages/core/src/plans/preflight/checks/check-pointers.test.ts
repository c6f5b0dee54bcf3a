import { describe, expect, it } from "vitest";
import { each } from "../../../../testing/plans/plan-case.ts";
import { call, messages, plan, said } from "../preflight.fixture.ts";

const at = (jsonPath: string, parts: object = {}): object => ({ jsonPath, ...parts });
const read = (id: string, jsonPath: string, parts: object = {}): object =>
  call(id, { arguments: { value: at(jsonPath) }, ...parts });
const one = (jsonPath: string, parts: object = {}): string[] => said(plan([read("a", jsonPath)], parts));

describe("a pointer", () => {
  it.each([
    ["$.context[", "pointer_invalid", ":10)"],
    ["context.a", "pointer_invalid", "expected '$'"],
    ["$.contxt.a", "pointer_root", 'Did you mean "context"?'],
    ["$['inputs'].a", "pointer_root", "starts with $.context, $.history or $.promptInput"],
    ["$.promptInput[?search(@.a, '(')]", "pattern_invalid", "not valid"],
  ])("that cannot be one is refused: %s is %s", (jsonPath, code, message) => {
    expect(one(jsonPath)).toEqual([`error ${code} $.steps[0].arguments.value`]);
    expect(messages(plan([read("a", jsonPath)]), code)[0]).toContain(message);
  });

  it("is found wherever it stands", () => {
    const steps = [
      call("a", { arguments: { list: [{ deep: at("$.x.y") }] }, nextStepId: "b" }),
      {
        id: "b",
        type: "conditional_branch",
        condition: { left: at("$.x"), operator: "equals", right: [at("$.y")] },
        onTrue: { nextStepId: "c" },
        onFalse: {},
      },
      { ...each("c", "$.z", [call("d") as never]), nextStepId: "e" },
      { id: "e", type: "human_in_the_loop", message: "so {{$.x.a}} and {{$.context.}}?", nextStepIdOnInput: "f" },
      { id: "f", type: "final_response", message: at("$.nope") },
    ];
    expect(said(plan(steps))).toEqual([
      "error pointer_root $.steps[0].arguments.list[0].deep",
      "error pointer_root $.steps[1].condition.left",
      "error pointer_root $.steps[1].condition.right[0]",
      "error pointer_root $.steps[2].collectionPath",
      "error pointer_root $.steps[3].message",
      "error pointer_invalid $.steps[3].message",
      "error pointer_root $.steps[4].message",
    ]);
  });
});

describe("a pointer into the context", () => {
  it("warns when only the session can bring the key", () => {
    expect(one("$.context.team.name")).toEqual(["warning pointer_unset $.steps[0].arguments.value"]);
    expect(one("$.context.finalResponse")).toEqual(["warning pointer_unset $.steps[0].arguments.value"]);
    expect(one("$.context")).toEqual([]);
    const typo = plan([call("a", { saveAs: "greeting", nextStepId: "b" }), read("b", "$.context.greting")]);
    expect(messages(typo, "pointer_unset")).toEqual([
      '"$.context.greting" reads the key "greting", which no step writes; the session must bring it. Did you mean "greeting"?',
    ]);
  });

  it("knows the error of a call that may fail", () => {
    const failing = (onError: "continue" | "fail") =>
      plan([call("a", { onError, saveAs: "k", nextStepId: "b" }), read("b", "$.context.k_error.message")]);
    expect(said(failing("continue"))).toEqual([]);
    expect(said(failing("fail"))).toEqual(["warning pointer_unset $.steps[1].arguments.value"]);
  });

  it("is refused when the key is written too late", () => {
    const late = plan([read("a", "$.context.k", { nextStepId: "b" }), call("b", { saveAs: "k" })]);
    expect(said(late)).toEqual(["error pointer_unreachable $.steps[0].arguments.value"]);
    expect(messages(late, "pointer_unreachable")).toEqual([
      '"k" is written by step "b" ($.steps[1]), which cannot have run before.',
    ]);
    expect(said(plan([read("a", "$.context.k", { saveAs: "k" })]))).toEqual([
      "error pointer_unreachable $.steps[0].arguments.value",
    ]);
  });

  it("is refused when another branch writes the key", () => {
    const lists = [{ steps: [call("a", { saveAs: "k" })] }, { steps: [read("b", "$.context.k")] }];
    const sibling = plan([
      { id: "p", type: "parallel_branch", branches: lists, nextStepId: "c" },
      read("c", "$.context.k"),
    ]);
    expect(said(sibling)).toEqual(["error pointer_unreachable $.steps[0].branches[1].steps[0].arguments.value"]);
    expect(messages(sibling, "pointer_unreachable")[0]).toContain("branches do not see each other");
  });

  it("is refused when only an earlier turn of its loop could have written it", () => {
    const turns = plan([
      each("l", "$.promptInput.items", [
        read("a", "$.context.k", { nextStepId: "b" }) as never,
        call("b", { saveAs: "k" }) as never,
      ]),
    ]);
    expect(said(turns)).toEqual(["error pointer_unreachable $.steps[0].loopPlan[0].arguments.value"]);
  });

  it.each([
    ["saveAs", call("a", { saveAs: "k" }), "$.context.k"],
    ["a tool's result", call("a"), "$.context['demo::any_result']"],
    [
      "an alternative's result",
      call("a", { arguments: { numbers: [] }, alternatives: ["demo::sum"] }),
      "$.context['demo::sum_result']",
    ],
  ])("may read %s", (_, step, jsonPath) => {
    expect(said(plan([{ ...step, nextStepId: "b" }, read("b", jsonPath)]))).toEqual([]);
  });

  it("may read a person's answer, a loop's item, and what another way around wrote", () => {
    const asked = { id: "h", type: "human_in_the_loop", message: "?", nextStepIdOnInput: "b" };
    expect(said(plan([asked, read("b", "$.context.human_input.x")]))).toEqual([]);
    const items = [read("a", "$.context.item", { nextStepId: "b" }), read("b", "$.context.item_index")];
    expect(said(plan([each("l", "$.promptInput.x", items as never)]))).toEqual([]);
    expect(
      messages(
        plan([{ ...each("l", "$.promptInput.x", [call("a") as never]), nextStepId: "b" }, read("b", "$.context.item")]),
        "pointer_unset",
      )[0],
    ).toContain(`In the loop "l" it is the loop's own, but not outside.`);
    const round = plan([
      read("a", "$.context.k", { nextStepId: "b" }),
      call("b", { saveAs: "k", nextStepId: "c" }),
      {
        id: "c",
        type: "conditional_branch",
        condition: { left: at("$.history[9]"), operator: "exists" },
        onTrue: {},
        onFalse: { nextStepId: "a" },
      },
    ]);
    expect(said(round)).toEqual([]);
  });

  it("may be absent where the plan was written for that", () => {
    const withDefault = call("a", { arguments: { value: at("$.context.team", { default: 1 }) } });
    expect(said(plan([withDefault]))).toEqual([]);
    expect(said(plan([{ ...withDefault, nextStepId: "b" }, call("b", { saveAs: "team" })]))).toEqual([
      "warning pointer_unreachable $.steps[0].arguments.value",
    ]);
    const asks = {
      id: "a",
      type: "conditional_branch",
      condition: { left: at("$.context.team"), operator: "not_exists" },
      onTrue: {},
      onFalse: {},
    };
    expect(said(plan([asks]))).toEqual([]);
  });
});

describe("a pointer into the input", () => {
  const properties = {
    names: { type: "array" },
    who: { type: "object", properties: { id: {} }, additionalProperties: false },
  };
  it("warns of names that the parameters do not have, and refuses them when there can be no others", () => {
    expect(one("$.promptInput.nams", { parameters: { type: "object", properties } })).toEqual([
      "warning unknown_input $.steps[0].arguments.value",
    ]);
    const closed = { parameters: { type: "object", properties, additionalProperties: false } };
    expect(one("$.promptInput.nams[0]", closed)).toEqual(["error unknown_input $.steps[0].arguments.value"]);
    expect(one("$.promptInput.names[0]", closed)).toEqual([]);
    expect(one("$.promptInput.who.ids", closed)).toEqual(["error pointer_unreachable $.steps[0].arguments.value"]);
    expect(one("$.promptInput.names[?@ == $.promptInput.nam]", closed)).toEqual([
      "error unknown_input $.steps[0].arguments.value",
    ]);
    expect(messages(plan([read("a", "$.promptInput.nams")], closed), "unknown_input")).toEqual([
      '"nams" is not among the plan\'s parameters (names, who). Did you mean "names"?',
    ]);
  });
});

describe("a pointer into history", () => {
  it("names steps of the plan", () => {
    expect(one("$.history[?@.planStepId == 'b'].result.output")).toEqual([
      "error history_step_unknown $.steps[0].arguments.value",
    ]);
    expect(one("$.history[?@.planStepId == 'a'].result.output")).toEqual([]);
    const asked = { id: "h", type: "human_in_the_loop", message: "?", nextStepIdOnInput: "a" };
    expect(said(plan([asked, read("a", "$.history[?@.planStepId == 'h']")]))).toEqual([
      "warning history_step_silent $.steps[1].arguments.value",
    ]);
  });

  it("warns where it sees the newest entries only", () => {
    expect(one("$.history[?@.toolId == 'demo::any']")).toEqual(["warning history_scan $.steps[0].arguments.value"]);
    expect(one("$.history[0].result.output")).toEqual([]);
  });
});
