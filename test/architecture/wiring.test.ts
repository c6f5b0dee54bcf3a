import { describe, expect, it } from "vitest";
import { codeOf, readText, repositoryFiles } from "./source-files.ts";

const inCompose = /^apps\/[^/]+\/src\/compose\//;

// What stands behind a port, and what is built on it: stores, the database, the folder's owner, gate, engine and services.
const builds = new RegExp(
  [
    String.raw`\b(?:open|create)\w*(?:Store|Database|StoreFile|Engine|ToolGate|Supervisor)\b`,
    String.raw`\b(?:open|create)\w*(?:ApprovalService|ConversationService|ConversationMemory|RefinementLoops|KeptVectors)\b`,
    String.raw`\bcreateRemote\w+\b|\bcreateSupabase\b|\bclaimFolder\b`,
  ].join("|"),
);

function wires(file: string, text: string): boolean {
  return builds.test(codeOf(text)) && !inCompose.test(file);
}

describe("wiring", () => {
  it("is in compose and nowhere else in an app", () => {
    const sources = repositoryFiles(/^apps\/[^/]+\/src\/.*(?<!\.(?:test|fixture))\.ts$/);
    expect(sources.filter((file) => inCompose.test(file) && builds.test(codeOf(readText(file))))).not.toEqual([]);
    expect(sources.filter((file) => wires(file, readText(file)))).toEqual([]);
  });

  it.each([
    'import { openSqliteStateStore } from "@ergon/node";',
    'const { openOwnedDatabase } = await import("@ergon/node");',
    "const approvals = core.createApprovalService(parts);",
    "const engine = createEngine({ store });",
    "const engine = createRemoteEngine(target);",
    "const claim = await claimFolder(place);",
  ])("finds: %s", (text) => {
    expect(wires("apps/ergon/src/http/planted.ts", text)).toBe(true);
    expect(wires("apps/ergon/src/compose/planted.ts", text)).toBe(false);
  });
});
