import { describe, expect, it } from "vitest";
import { MAX_POINTER_DEPTH } from "./limits.ts";
import { pointersIn } from "./pointers-in.ts";

describe("pointersIn", () => {
  it("finds the pointers of arguments with their places", () => {
    const { pointers, problems } = pointersIn(
      {
        who: { jsonPath: "$.context.name" },
        list: [1, { "a b": { jsonPath: "$.promptInput.x", first: true, default: 0 } }],
      },
      { at: "$.steps[0].arguments" },
    );
    expect(problems).toEqual([]);
    expect(pointers).toMatchObject([
      { path: "$.steps[0].arguments.who", pointer: { root: "context", key: "name" }, first: false, hasDefault: false },
      { path: '$.steps[0].arguments.list[1]["a b"]', pointer: { key: "x" }, first: true, hasDefault: true },
    ]);
  });

  it("finds both sides of a condition", () => {
    const condition = { left: { jsonPath: "$.context.a" }, operator: "equals", right: { jsonPath: "$.context.b" } };
    expect(pointersIn(condition).pointers.map(({ path }) => path)).toEqual(["$.left", "$.right"]);
  });

  it("finds the paths of a message, and a message that is a pointer", () => {
    const { pointers } = pointersIn("{{$.context.a}} and {{$.context.b}}", { messages: true });
    expect(pointers.map(({ pointer }) => pointer.key)).toEqual(["a", "b"]);
    expect(pointersIn({ jsonPath: "$.context.a" }, { messages: true }).pointers).toHaveLength(1);
  });

  it("reports every problem at once and still finds the rest", () => {
    const { pointers, problems } = pointersIn([
      { jsonPath: "nope" },
      { jsonPath: "$.context.ok" },
      { jsonPath: "$.elsewhere" },
      { jsonPath: "$.context.a[?match(@, '(')]" },
    ]);
    expect(pointers.map(({ path }) => path)).toEqual(["$[1]"]);
    expect(problems.map(({ path, code, severity }) => [path, code, severity])).toEqual([
      ["$[0]", "pointer_invalid", "error"],
      ["$[2]", "pointer_invalid", "error"],
      ["$[3]", "pattern_invalid", "error"],
    ]);
  });

  it("reports a broken path of a message and still finds the others", () => {
    const { pointers, problems } = pointersIn("{{$.nope}} {{$.context.a}}", { messages: true });
    expect(pointers).toHaveLength(1);
    expect(problems).toMatchObject([{ path: "$", code: "pointer_invalid" }]);
    expect(pointersIn("{{$.context.a", { messages: true }).problems).toMatchObject([{ code: "pointer_invalid" }]);
  });

  it.each([
    [{ jsonPath: "$.history[?@.toolId=='t']" }, "history_scan"],
    [{ jsonPath: "$.context.a[?@ == $.history[-1]]" }, "history_scan"],
    [{ jsonPath: "$.context.a", frist: true }, "pointer_shape"],
    ["$.context.a", "pointer_text"],
    ["Hello {{$.context.a}}", "pointer_text"],
  ])("warns about %j", (value, code) => {
    expect(pointersIn(value).problems).toMatchObject([{ path: "$", code, severity: "warning" }]);
  });

  it.each(["$5 a month", "price: $.99", "{{name}}", { jsonPath: "a/b", kind: "xpath" }, null, 1])(
    "does not warn about %j",
    (value) => {
      expect(pointersIn(value).problems).toEqual([]);
    },
  );

  it("reports values that are too deep", () => {
    let value: unknown = 1;
    for (let level = 0; level <= MAX_POINTER_DEPTH; level++) value = { value };
    expect(pointersIn(value).problems).toMatchObject([{ path: "$", code: "pointer_limit" }]);
  });
});
