import { createRequire } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SECRET_SAMPLES } from "@ergon/core/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { ergon, temporaryFolder } from "./ergon.ts";
import { serveFolder } from "./served.ts";

const EVERYTHING = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/dist/index.js");

/** Says its arguments wherever a tool can, and fails with them. */
const LOUD = `
export const definition = {
  id: "desk::loud",
  description: "Says it aloud.",
  parameters: { type: "object", properties: { said: { type: "array" } }, required: ["said"] },
};
export const implementation = async ({ said }, { logger, progress }) => {
  logger.warn({ said }, "Said " + said.join(" "));
  progress({ fraction: 0.5, message: said.join(" ") });
  throw new Error("It was said: " + said.join(" "));
};
`;

const PLAN = {
  planId: "loud",
  description: "Sends texts to a server, and says them.",
  parameters: { type: "object", properties: { said: { type: "array" } }, required: ["said"] },
  startStepId: "send",
  steps: [
    {
      id: "send",
      type: "tool_call",
      toolId: "ev_echo",
      arguments: { message: { jsonPath: "$.promptInput.text" } },
      nextStepId: "say",
    },
    { id: "say", type: "tool_call", toolId: "desk::loud", arguments: { said: { jsonPath: "$.promptInput.said" } } },
  ],
};

/** One by one in a list, and together in one text; a key whose end is missing would take the rest with it. */
const said = SECRET_SAMPLES.map(({ text }) => text);
const text = SECRET_SAMPLES.filter(({ issuer }) => !issuer.startsWith("private keys"))
  .map((sample) => sample.text)
  .join("\n");

describe("tokens in arguments, results and errors", { timeout: 120_000 }, () => {
  const places: Record<string, string> = {};

  beforeAll(async () => {
    const folder = temporaryFolder();
    try {
      Object.assign(places, await everythingShown(folder));
    } finally {
      folder.remove();
    }
  }, 120_000);

  it.each([
    "log",
    "events",
    "trace of the session",
    "approvals --json",
    "approvals show",
    "approvals, stored",
    "tool calls, stored",
  ])("are hidden by their look in: %s", (place) => {
    const shown = places[place] ?? "";
    expect(shown.includes("[redacted]"), shown.slice(0, 2_000)).toBe(true);
    expect(SECRET_SAMPLES.filter(({ secret }) => shown.includes(secret))).toEqual([]);
  });

  it("are in the journal, which repeats calls with what they were given", () => {
    expect(places["journal, stored"]?.includes(SECRET_SAMPLES[0]?.secret ?? "?")).toBe(true);
  });
});

async function everythingShown({ path, write }: ReturnType<typeof temporaryFolder>): Promise<Record<string, string>> {
  const data = join(path, "data");
  const config = join(path, "mcp-servers.json");
  const servers = [{ id: "ev", command: process.execPath, args: [EVERYTHING] }];
  write({
    "caps/loud.tool.js": LOUD,
    "caps/loud.plan.json": JSON.stringify(PLAN),
    "mcp-servers.json": JSON.stringify({ servers }),
  });
  const env = { XDG_STATE_HOME: join(path, "state"), MCP_CONFIG_PATH: config, ERGON_LOG: "trace" };
  const server = await serveFolder(data, { cwd: path, env, args: ["--capabilities", join(path, "caps")] });
  const cli = async (...args: readonly string[]) => (await ergon([...args, "--data", data], { cwd: path, env })).out;
  const ask = async (method: string, to: string, body?: unknown): Promise<string> => {
    const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/json", prefer: "wait=30" };
    const response = await fetch(new URL(to, server.url), {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await response.text();
  };
  try {
    const { sessionId } = JSON.parse(await ask("POST", "/sessions", {})) as { sessionId: string };
    await ask("POST", `/sessions/${sessionId}/execute-plan`, { planId: "loud", input: { said, text } });
    const { items } = JSON.parse(await ask("GET", "/approvals?state=pending")) as { items: { id: string }[] };
    const [asked] = items;
    const shown = {
      "approvals --json": await cli("approvals", "--json"),
      "approvals show": await cli("approvals", "show", asked?.id ?? ""),
    };
    await ask("POST", `/approvals/${asked?.id ?? ""}`, { decision: "approve" });
    await ask("GET", `/sessions/${sessionId}`);
    const trace = await ask("GET", `/sessions/${sessionId}/trace`);
    const events = await firstEvents(server, sessionId);
    return { ...shown, "trace of the session": trace, events, ...(await afterwards()) };
  } catch (thrown) {
    await server.stop("SIGKILL");
    throw thrown;
  }

  async function afterwards(): Promise<Record<string, string>> {
    await server.stop("SIGTERM");
    const database = new DatabaseSync(join(data, "state.db"), { readOnly: true });
    const rows = (table: string): string => {
      const found = database.prepare(`SELECT * FROM ${table}`).all();
      return found.map((row) => Object.values(row).join("\n")).join("\n");
    };
    try {
      const kept = { "approvals, stored": rows("approvals"), "tool calls, stored": rows("mcp_tool_invocations") };
      return { ...kept, "journal, stored": rows("journal"), log: server.log() };
    } finally {
      database.close();
    }
  }
}

/** What a session has told so far. */
async function firstEvents({ url, token }: { url: string; token: string }, sessionId: string): Promise<string> {
  const response = await fetch(new URL(`/sessions/${sessionId}/events`, url), {
    headers: { authorization: `Bearer ${token}` },
  });
  let read = "";
  for await (const chunk of response.body ?? []) {
    read += Buffer.from(chunk).toString();
    if (/event: session-(failed|paused)[^]*\n\n/.test(read) && read.includes("step-failed")) break;
  }
  return read;
}
