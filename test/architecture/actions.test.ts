import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { readText, repositoryFiles } from "./source-files.ts";

const files = repositoryFiles();
const actions = repositoryFiles(/^capabilities\/.*\/action\.ts$/);

describe("every action", () => {
  it("is found at all", () => {
    expect(actions.length).toBeGreaterThan(1);
  });

  it.each(actions)("%s says what it is for, takes and gives, with an example and what goes with it", (file) => {
    const text = readText(file);
    const [, documentation = ""] = /\/\*\*([^]*?)\*\/\s*export const \w+ = defineAction/.exec(text) ?? [];
    for (const part of ["Purpose:", "Inputs:", "Outputs:", "Example:", "Related actions:"]) {
      expect(documentation, `${file} has no "${part}"`).toContain(part);
    }
  });

  it.each(actions)("%s has a test beside it, and its prompt apart where it uses AI", (file) => {
    const folder = dirname(file);
    expect(files.filter((other) => dirname(other) === folder && other.endsWith(".test.ts"))).not.toEqual([]);
    const usesAI = /usesAI: true/.test(readText(file));
    expect(files.includes(join(folder, "buildPrompt.ts"))).toBe(usesAI);
  });
});
