import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { keysOf, readPlanDocument } from "./plan-document.ts";

const folder = mkdtempSync(join(tmpdir(), "ergon-plan-document-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ["a.plan.json", '\uFEFF{\n  "planId": "p",\n  "steps": [\n    {"id": "a",\n     "toolId": "x"}\n  ]\n}\n', 5, 16],
  ["a.plan.yaml", "planId: p\nsteps:\n  - id: a\n    toolId: x\n", 4, 13],
])("%s says where its values are", async (name, source, line, column) => {
  const file = join(folder, name);
  writeFileSync(file, source);
  const document = await readPlanDocument(file);
  if ("problem" in document) throw new Error(document.problem.reason);
  expect(document.locate(keysOf("$.steps[0].toolId"))).toEqual({ line, column });
  const step = document.locate(keysOf("$.steps[0]"));
  expect(document.locate(keysOf("$.steps[0].saveAs")), "a missing value: the nearest around it").toEqual(step);
  expect(document.locate(keysOf("$"))).toMatchObject({ line: 1 });
});

it("A path is read as preflight writes it.", () => {
  expect(keysOf("$")).toEqual([]);
  expect(keysOf('$.steps[12].arguments["a \\"b]"].c_1')).toEqual(["steps", 12, "arguments", 'a "b]', "c_1"]);
});
