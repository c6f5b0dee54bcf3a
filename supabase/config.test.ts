import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const folder = import.meta.dirname;
const config = readFileSync(join(folder, "config.toml"), "utf8");

it("has an entry for every function, and names files that are there", () => {
  const functions = [...config.matchAll(/^\[functions\.([\w-]+)\]$/gm)].map(([, name]) => name);
  expect(functions).toEqual(readdirSync(join(folder, "functions")));
  const files = [...config.matchAll(/"(\.\/[^"]+)"/g)].map(([, file = ""]) => file);
  expect(files).toHaveLength(3);
  for (const file of files) expect(existsSync(join(folder, file)), file).toBe(true);
});
