import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadPlans } from "./load-plans.ts";
import { MAX_PLAN_BYTES, MAX_YAML_BYTES } from "./plan-document.ts";

const plan = { planId: "p", startStepId: "a", steps: [{ id: "a", type: "final_response", message: "hi" }] };
const yaml = "planId: y\nstartStepId: a\nsteps:\n  - id: a\n    type: final_response\n    message: hi\n";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-plans-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("reads JSON and YAML plans", async () => {
  const { plans, problems } = await load({ "a.plan.json": JSON.stringify(plan), "b.plan.yaml": yaml });
  expect(problems).toEqual([]);
  expect(plans).toMatchObject([
    { id: "p", file: join(folder, "a.plan.json"), plan: { ...plan, description: "" } },
    { id: "y", plan: { startStepId: "a" } },
  ]);
});

it("takes one name in different objects, and names as values", async () => {
  const twice = { ...plan, description: "planId", parameters: { properties: { id: { title: "id" }, type: {} } } };
  const { plans, problems } = await load({ "a.plan.json": `\uFEFF${JSON.stringify(twice, null, 2)}` });
  expect(problems).toEqual([]);
  expect(plans).toHaveLength(1);
});

describe("a broken plan does not stop the rest, and is reported", () => {
  it.each([
    ["x.plan.json", '{\n  "planId": "x",,\n}', 2, /not JSON: unexpected ",".* at line 2, column 17/],
    [
      "x.plan.json",
      '{"planId": "x", "steps": [{"id": "a"}]}',
      undefined,
      /\/startStepId \(line 1, column 1\): .*; \/steps\/0\/type \(line 1, column 27\): /,
    ],
    [
      "x.plan.json",
      '{\n  "planId": "x",\n  "steps": [],\n  "planId": "y"\n}',
      4,
      /the name "planId" twice .* at line 4/,
    ],
    ["x.plan.json", '{"steps": [{"id": {"a": 1}, "x": "id"},\n{"a": "\\"{", "\\u0061": 1}]}', 2, /the name "a" twice/],
    ["x.plan.json", "[".repeat(600) + "]".repeat(600), undefined, /deeper than 512 levels/],
    ["x.plan.json", " ".repeat(MAX_PLAN_BYTES + 1), undefined, /more than 16777216/],
    ["x.plan.yaml", "planId: x\nbad: [", 2, /not usable YAML: .* at line 2/],
    ["x.plan.yml", "planId: !!js/function 'function () {}'\n", 1, /not usable YAML: Unresolved tag/],
    ["x.plan.yml", "planId: a\nplanId: b\n", 2, /Map keys must be unique/],
    ["x.plan.yml", alternatingBomb(), undefined, /Excessive alias count/],
    ["x.plan.yaml", `#${" ".repeat(MAX_YAML_BYTES)}`, undefined, /more than 2097152/],
  ])("%s", async (name, source, line, reason) => {
    const { plans, problems } = await load({ [name]: source, "z.plan.json": JSON.stringify(plan) });
    expect(plans.map(({ id }) => id)).toEqual(["p"]);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ file: join(folder, name), code: "plan_invalid" });
    expect(problems[0]?.line).toBe(line);
    expect(problems[0]?.reason).toMatch(reason);
  });

  it("a second plan of one id names the first", async () => {
    const { plans, problems } = await load({
      "a.plan.json": JSON.stringify(plan),
      "b.plan.json": JSON.stringify(plan),
    });
    expect(plans).toHaveLength(1);
    expect(problems.map(({ file, reason }) => `${file} ${reason}`)).toEqual([
      expect.stringMatching(/b\.plan\.json .*a\.plan\.json already/),
    ]);
  });

  it("a file that is gone", async () => {
    const { problems } = await loadPlans([{ kind: "plan", file: join(folder, "gone.plan.json") }]);
    expect(problems[0]?.reason).toMatch(/cannot be read/);
  });
});

it("takes a plan of the largest size", async () => {
  expect((await load({ "a.plan.json": JSON.stringify(plan).padEnd(MAX_PLAN_BYTES) })).problems).toEqual([]);
  expect((await load({ "b.plan.yaml": yaml.padEnd(MAX_YAML_BYTES, " ") })).problems).toEqual([]);
});

/** Ten levels of ten references each. */
function alternatingBomb(): string {
  const level = (n: number) =>
    `l${n}: &l${n} [${Array.from({ length: 10 }, () => (n === 0 ? "x" : `*l${n - 1}`)).join(", ")}]`;
  return Array.from({ length: 10 }, (_, n) => level(n)).join("\n");
}

async function load(files: Record<string, string>) {
  for (const [name, source] of Object.entries(files)) writeFileSync(join(folder, name), source);
  return loadPlans(Object.keys(files).map((name) => ({ kind: "plan", file: join(folder, name) })));
}
