import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeSamples } from "./make-samples.ts";

it.each(Object.entries(makeSamples()))("%s is what its script makes, byte by byte (npm run samples)", (name, text) => {
  expect(readFileSync(join(import.meta.dirname, name), "utf8")).toBe(text);
});
