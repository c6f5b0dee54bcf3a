import { describe, expect, it } from "vitest";
import { codeOf, readText, repositoryFiles } from "./source-files.ts";

// Who may know the state store: the port and its implementations, the engine, and those who call the gate and commit
// what it returns. Tools, the gate itself, energy, refinement and the packs never see it.
const mayKnow = [
  /^packages\/core\/src\/(?:ports|store-kit|memory|plans|planner|conversation)\//,
  /^packages\/core\/src\/(?:index|spec|store-kit)\.ts$/,
  /^packages\/core\/testing\//,
  /^packages\/node\/src\/(?:sqlite|postgres|redis|restate)\//,
  /^packages\/node\/src\/index\.ts$/,
  /^apps\/[^/]+\/src\/compose\//,
  // It says what a folder holds; nothing is called there.
  /^apps\/ergon\/src\/workspace\/opened-data\.ts$/,
  // Records a call that is made without a plan.
  /^apps\/ergon\/src\/services\/direct-call\.ts$/,
];

/** By the store's name, by one of the types of its commits, or by the shape of its one writing method. */
const knowing = /\w*StateStore\b|\bCommit(?:Source|Receipt|Rows)?\b|\.commit\b|\bcommit\s*[(:,}]/;

function knows(file: string, text: string): boolean {
  return knowing.test(codeOf(text)) && !mayKnow.some((place) => place.test(file));
}

describe("state mediation", () => {
  it("only the engine, the gate's callers and the adapters touch the state store", () => {
    const sources = repositoryFiles(/^(?:packages|apps|capabilities)\/.*(?<!\.(?:test|fixture))\.ts$/);
    expect(sources.filter((file) => knowing.test(codeOf(readText(file))))).not.toEqual([]);
    expect(sources.filter((file) => knows(file, readText(file)))).toEqual([]);
  });

  it.each([
    ["its port", 'import type { StateStore } from "@ergon/core";'],
    ["an implementation", 'import { openSqliteStateStore } from "@ergon/node";'],
    ["a type of its commits", 'import type { CommitReceipt } from "@ergon/core";'],
    ["a call of its writing method", "await data.state.commit({ sessionId, owner, events });"],
    ["the method taken out of it", "const { commit } = data.state;"],
    ["its shape", "readonly state: { commit(given: unknown): Promise<unknown> };"],
    ["a shape with a field", "readonly state: { readonly commit: (given: unknown) => void };"],
  ])("finds %s", (_, text) => {
    for (const file of ["apps/ergon/src/http/planted.ts", "capabilities/tools/demo/planted.ts"])
      expect(knows(file, text)).toBe(true);
    expect(knows("packages/core/src/tools/gate/planted.ts", text)).toBe(true);
    expect(knows("apps/ergon/src/compose/planted.ts", text)).toBe(false);
  });

  it("takes no comment for code", () => {
    expect(
      knows("apps/ergon/src/http/planted.ts", "// The StateStore is asked by .commit( elsewhere.\n/* Commit */"),
    ).toBe(false);
  });
});
