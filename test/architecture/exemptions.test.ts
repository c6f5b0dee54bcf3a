import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readJson, readText, repositoryFiles } from "./source-files.ts";

// In pieces, so that this file does not find itself.
const waivers = new RegExp(
  [
    `(?:es|ox)lint-${"disable"}`,
    `@ts-${"(?:ignore|expect-error|nocheck)"}`,
    `(?:oxfmt|prettier|knip|biome|deno-lint)-${"ignore"}`,
    `(?:v8|c8|istanbul) ${"ignore"}`,
    `\\bas ${"any"}\\b`,
  ].join("|"),
);

describe("no exemptions", () => {
  it("no source waives a rule for itself", () => {
    const sources = repositoryFiles(/\.(?:[cm]?[jt]sx?)$/);
    expect(sources).not.toEqual([]);
    expect(sources.filter((file) => waivers.test(readText(file)))).toEqual([]);
  });

  it.each([".oxlintrc.json", ".oxfmtrc.json", "knip.json"])("%s ignores no file and no name", (file) => {
    const entries = allEntries(readJson(file));
    expect(entries).not.toEqual([]);
    expect(entries.filter(([key]) => /^(?:ignore|exclude)/i.test(key))).toEqual([]);
  });

  it("a lint rule holds for every file, or for none", () => {
    const overrides = allEntries(readJson(".oxlintrc.json")).filter(([key]) => key === "overrides");
    expect(overrides).toHaveLength(1);
    expect(
      allEntries(overrides).filter(([, value]) => ["off", "allow", "warn", 0, 1].some((it) => it === value)),
    ).toEqual([]);
  });

  it("every TypeScript project is type-checked, every folder linted", () => {
    const { scripts } = z.object({ scripts: z.record(z.string(), z.string()) }).parse(readJson("package.json"));
    const types = `${scripts["check:types"]} `;
    const projects = repositoryFiles(/(?:^|\/)tsconfig(?!\.base)[\w.]*\.json$/);
    expect(projects).not.toEqual([]);
    expect(projects.filter((file) => !types.includes(` ${projectName(file)} `))).toEqual([]);
    const folders = new Set(repositoryFiles(/^[^.][^/]*\/.*\.[jt]s$/).map((file) => file.split("/", 1)[0]));
    const linted = new Set(scripts["check:lint"]?.split(" "));
    expect([...folders].filter((folder) => folder !== undefined && !linted.has(folder))).toEqual([]);
  });

  it("dependency-cruiser leaves out only what is installed or built", async () => {
    const config: unknown = (await import("../../.dependency-cruiser.js")).default;
    const filters = allEntries(config).filter(([key]) => /^(?:exclude|doNotFollow|includeOnly|allowed)$/i.test(key));
    expect(filters).toEqual([
      ["doNotFollow", { path: "node_modules" }],
      ["exclude", { path: "(^|/)(node_modules|dist)/" }],
    ]);
    expect(allEntries(config).filter(([key, value]) => key === "severity" && value !== "error")).toEqual([]);
  });
});

/** What `tsc -b` calls it: the folder, when the file has its usual name. */
function projectName(file: string): string {
  if (file === "tsconfig.json") return ".";
  return file.replace(/\/tsconfig\.json$/, "");
}

function allEntries(value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [[key, inner] as [string, unknown], ...allEntries(inner)]);
}
