import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ergon, temporaryFolder } from "./ergon.ts";

const fixture = join(import.meta.dirname, "../../packages/node/src/hub/hostile-server.fixture.ts");
let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  const asks = { id: "asks", command: process.execPath, args: [fixture, "fine"], autoApprove: true };
  const question = {
    message: "What is your name?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  };
  const plan = {
    planId: "greet",
    description: "Asks for a name.",
    startStepId: "ask",
    steps: [
      { id: "ask", type: "tool_call", toolId: "asks_ask", arguments: question, saveAs: "said", nextStepId: "done" },
      { id: "done", type: "final_response", message: { jsonPath: "$.context.said" } },
    ],
  };
  folder.write({
    "mcp-servers.json": JSON.stringify({ servers: [asks] }),
    "greet.plan.json": JSON.stringify(plan),
  });
});
afterEach(() => folder.remove());

const at = () => ({ cwd: folder.path, env: { MCP_CONFIG_PATH: join(folder.path, "mcp-servers.json") } });

describe("a server that asks a person during a step", { timeout: 120_000 }, () => {
  it("pauses the session with its question, and has the answer when the session is resumed by another process", async () => {
    const paused = await ergon(["run", "greet.plan.json", "--json"], at());
    expect(paused.code, paused.err).toBe(3);
    const { waiting, sessionId } = lastCore(paused.out);
    expect(waiting).toMatchObject([
      { stepId: "ask", kind: "human", message: expect.stringContaining("What is your name?") },
    ]);
    const refused = await ergon(["resume", sessionId, "--input", "{}"], at());
    expect(refused.code).toBe(2);
    const done = await ergon(["resume", sessionId, "--input", '{"name":"Ada"}'], at());
    expect(done.code, done.err).toBe(0);
    expect(done.out).toContain("Ada");
  });
});

type Core = { readonly sessionId: string; readonly waiting: readonly unknown[] };

function lastCore(out: string): Core {
  const documents = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly core?: Core } & Partial<Core>);
  const last = documents.at(-1);
  return (last?.core ?? last) as Core;
}
