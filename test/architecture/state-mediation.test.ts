import { describe, expect, it } from "vitest";
import { readText, repositoryFiles } from "./source-files.ts";

// Who may know the state store: the port and its implementations, the engine, and those who call the gate and commit
// what it returns. Tools, the gate itself, energy, refinement and the packs never see it.
const mayKnow = [
  /^packages\/core\/src\/(?:ports|store-kit|memory|plans|planner|conversation)\//,
  /^packages\/core\/src\/index\.ts$/,
  /^packages\/core\/testing\//,
  /^packages\/node\/src\/(?:sqlite|postgres|redis|restate)\//,
  /^packages\/node\/src\/index\.ts$/,
  /^apps\/[^/]+\/src\/compose\/compose\.ts$/,
];

describe("state mediation", () => {
  it("only the engine, the gate's callers and the adapters touch the state store", () => {
    const sources = repositoryFiles(/^(?:packages|apps|capabilities)\/.*(?<!\.test)\.ts$/);
    const knowing = sources.filter((file) => /\b(?:I|create\w*)?StateStore\b/.test(readText(file)));
    expect(knowing).not.toEqual([]);
    expect(knowing.filter((file) => !mayKnow.some((place) => place.test(file)))).toEqual([]);
  });
});
