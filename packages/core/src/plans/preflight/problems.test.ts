import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparePaths } from "./path-order.ts";
import { createProblems, MAX_KEPT_PROBLEMS, MAX_PROBLEMS, problemsOutside } from "./problems.ts";

describe("the list of problems", () => {
  it("is in the order of paths, as a reader counts", () => {
    const problems = createProblems();
    for (const path of [
      "$.steps[10]",
      "$.steps[2].id",
      "$.steps[2]",
      "$",
      "$.description",
      "$.steps[2].arguments",
      "$.steps[1]",
    ]) {
      problems.warning(path, "x", "y");
    }
    expect(problems.list().map(({ path }) => path)).toEqual([
      "$",
      "$.description",
      "$.steps[1]",
      "$.steps[2]",
      "$.steps[2].arguments",
      "$.steps[2].id",
      "$.steps[10]",
    ]);
  });

  it("leaves out what is said of places that have their problem already", () => {
    const problems = createProblems();
    const others = problemsOutside(problems, ["$.a", "$.b[1]"]);
    for (const path of ["$.a", "$.a.x", "$.a[0]", "$.ab", "$", "$.b", "$.b[1]", "$.b[1].c", "$.b[10]"]) {
      others.error(path, "x", "y");
      others.warning(path, "x", "y");
    }
    expect([...new Set(problems.list().map(({ path }) => path))]).toEqual(["$", "$.ab", "$.b", "$.b[10]"]);
    expect(others.hasErrors()).toBe(true);
  });

  it(`lists ${String(MAX_PROBLEMS)}, and says how many there are when there are more`, () => {
    const problems = createProblems();
    for (let at = 0; at < MAX_PROBLEMS; at += 1) problems.error(`$.steps[${String(at)}]`, "x", "y");
    expect(problems.list()).toHaveLength(MAX_PROBLEMS);
    problems.error("$", "first", "y");
    const listed = problems.list();
    expect(listed).toHaveLength(MAX_PROBLEMS + 1);
    expect(listed[0]?.code).toBe("first");
    expect(listed.at(-1)).toMatchObject({ path: "$", code: "too_many_problems", severity: "error" });
    expect(listed.at(-1)?.message).toContain(`There are ${String(MAX_PROBLEMS + 1)} problems`);
  });

  it("lets warnings give way to errors", () => {
    const problems = createProblems();
    for (let at = 0; at < MAX_KEPT_PROBLEMS + 1; at += 1) problems.warning(`$.a[${String(at)}]`, "x", "y");
    expect(problems.hasErrors()).toBe(false);
    expect(problems.list().at(-1)).toMatchObject({ code: "too_many_problems", severity: "warning" });
    problems.error("$.z", "late", "y");
    expect(problems.hasErrors()).toBe(true);
    expect(problems.list().filter(({ severity, code }) => severity === "error" && code === "late")).toHaveLength(1);
  });

  it("makes only the messages that it shows", () => {
    const problems = createProblems();
    let made = 0;
    const message = (): string => String((made += 1));
    for (let at = 0; at < 2 * MAX_PROBLEMS; at += 1) problems.error(`$[${String(at)}]`, "x", message);
    problems.list();
    expect(made).toBe(MAX_PROBLEMS);
  });

  it("has one order for all paths", () => {
    const path = fc
      .array(fc.constantFrom("a", "b", ".", "[", "]", "1", "10", "9", "2"), { maxLength: 6 })
      .map((parts) => `$${parts.join("")}`);
    fc.assert(
      fc.property(path, path, path, (a, b, c) => {
        expect(Math.sign(comparePaths(a, b))).toBe(-Math.sign(comparePaths(b, a)) + 0);
        expect(comparePaths(a, b) === 0).toBe(a === b);
        if (comparePaths(a, b) <= 0 && comparePaths(b, c) <= 0) expect(comparePaths(a, c)).toBeLessThanOrEqual(0);
      }),
    );
  });
});
