import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freeName, MAX_COPIES } from "./free-name.ts";

let folder = "";
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "ergon-names-"))));
afterEach(() => rmSync(folder, { recursive: true }));

describe("the name of a copy", () => {
  it("is the first that is free, and is refused when a hundred copies are kept", () => {
    const wanted = join(folder, "copy");
    const given = Array.from({ length: MAX_COPIES }, () => {
      const name = freeName(wanted);
      writeFileSync(name, "");
      return name;
    });
    expect(given.slice(0, 3)).toEqual([wanted, `${wanted}-2`, `${wanted}-3`]);
    expect(new Set(given).size).toBe(MAX_COPIES);
    expect(() => freeName(wanted)).toThrow(/99 more copies exist\. Move them away/);
  });
});
