import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { readText, repositoryFiles } from "./source-files.ts";

const ports = repositoryFiles(/^packages\/core\/src\/ports\/[^/]+(?<!\.test)\.ts$/).map((file) =>
  basename(file, ".ts"),
);
const tests = repositoryFiles(/\.test\.ts$/);

describe("every port", () => {
  it("is found at all", () => {
    expect(ports).toEqual(expect.arrayContaining(["blob-store", "state-store"]));
  });

  it.each(ports)("%s has a contract suite, and a test runs it", (port) => {
    const suite = `packages/core/testing/contracts/${port}.contract.ts`;
    expect(repositoryFiles()).toContain(suite);
    const [, name] = /export (?:async )?function (\w+)/.exec(readText(suite)) ?? [];
    expect(tests.filter((file) => name !== undefined && readText(file).includes(`${name}(`))).not.toEqual([]);
  });
});
