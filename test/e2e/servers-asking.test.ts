import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ergon, temporaryFolder } from "./ergon.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

const fixture = join(import.meta.dirname, "../../packages/node/src/hub/hostile-server.fixture.ts");
const question = {
  message: "What is your name?",
  requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
};
const plan = (tool: string) => ({
  planId: tool,
  description: "Asks for a name.",
  startStepId: "ask",
  steps: [
    { id: "ask", type: "tool_call", toolId: `shop_${tool}`, arguments: question, saveAs: "said", nextStepId: "done" },
    { id: "done", type: "final_response", message: { jsonPath: "$.context.said" } },
  ],
});
let folder: ReturnType<typeof temporaryFolder>;
let served: ServedFolder | undefined;
beforeEach(() => {
  folder = temporaryFolder();
  const args = [fixture, "charges", join(folder.path, "charged")];
  const shop = { id: "shop", command: process.execPath, args, autoApprove: true, trusted: true };
  folder.write({
    "mcp-servers.json": JSON.stringify({ servers: [shop] }),
    "again.plan.json": JSON.stringify(plan("ask_again")),
    "charge.plan.json": JSON.stringify(plan("charge")),
  });
});
afterEach(async () => {
  await served?.stop("SIGTERM");
  served = undefined;
  folder.remove();
});

const at = () => ({ cwd: folder.path, env: { MCP_CONFIG_PATH: join(folder.path, "mcp-servers.json") } });
const data = () => ["--data", join(folder.path, "data")];
const run = (file: string) => ergon(["run", file, "--json", ...data()], at());
const resume = (sessionId: string, input: string) => ergon(["resume", sessionId, "--input", input, ...data()], at());
const charged = () => readFileSync(join(folder.path, "charged"), "utf8").trim().split("\n").length;

describe("a server that asks a person during a step", { timeout: 120_000 }, () => {
  it("pauses the session with its question, and has the answer when the session is resumed by another process", async () => {
    const paused = await run("again.plan.json");
    expect(paused.code, paused.err).toBe(3);
    const { waiting, sessionId } = lastCore(paused.out);
    expect(waiting).toMatchObject([
      { stepId: "ask", kind: "human", message: expect.stringContaining("What is your name?") },
    ]);
    const refused = await resume(sessionId, "{}");
    expect(refused.code).toBe(2);
    const done = await resume(sessionId, '{"name":"Ada"}');
    expect(done.code, done.err).toBe(0);
    expect(done.out).toContain("Ada");
  });

  it("goes on in the middle of a call that may be made once, as long as the process lives", async () => {
    served = await serveFolder(join(folder.path, "data"), at());
    const paused = await run("charge.plan.json");
    expect(paused.code, paused.err).toBe(3);
    const done = await resume(lastCore(paused.out).sessionId, '{"name":"Ada"}');
    expect(done.code, done.err).toBe(0);
    expect(done.out).toContain("Ada");
    expect(charged()).toBe(1);
  });

  it("may ask in several sessions at once, and nobody's question is declined for another's", async () => {
    served = await serveFolder(join(folder.path, "data"), at());
    for (const file of ["again.plan.json", "charge.plan.json", "charge.plan.json", "again.plan.json"]) {
      const { code, err } = await run(file);
      expect({ file, code }, err).toEqual({ file, code: 3 });
    }
  });

  it("leaves such a call with an unknown outcome when the process has ended; a person's retry has the answer", async () => {
    const paused = await run("charge.plan.json");
    expect(paused.code, paused.err).toBe(3);
    const { sessionId } = lastCore(paused.out);
    const unknown = await resume(sessionId, '{"name":"Ada"}');
    expect(`${unknown.out}${unknown.err}`).toContain("no longer open");
    expect(unknown.code).not.toBe(0);
    expect(charged()).toBe(1);
    const done = await resume(sessionId, '{"action":"retry"}');
    expect(done.code, done.err).toBe(0);
    expect(done.out).toContain("Ada");
    expect(charged()).toBe(2);
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
