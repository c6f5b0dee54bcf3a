import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Registries, startRegistries } from "../../packages/node/src/hub/install/registries.fixture.ts";
import { ergon, temporaryFolder } from "./ergon.ts";
import { type ServedFolder, serveFolder } from "./served.ts";

const NOTES = "io.github.someone/server-notes";
const PACKAGE = "@someone/server-notes";
const SLOW = { timeout: 90_000, interval: 100 };
let folder: ReturnType<typeof temporaryFolder>;
let registries: Registries;
let server: ServedFolder;

beforeEach(async () => {
  folder = temporaryFolder();
  registries = await startRegistries();
  const npm = { registryType: "npm", identifier: PACKAGE, version: "1.0.0", transport: { type: "stdio" } };
  registries.addServer({ name: NOTES, description: "Keeps notes.", version: "1.0.0", packages: [npm] });
  await registries.addPackage({ name: PACKAGE, version: "1.0.0", mcpName: NOTES });
  server = await serve();
});

afterEach(async () => {
  await server.stop("SIGTERM");
  await registries.close();
  folder.remove();
});

function options() {
  const config = join(folder.path, "mcp-servers.json");
  return {
    cwd: folder.path,
    env: {
      MCP_CONFIG_PATH: config,
      ERGON_MCP_REGISTRY: registries.url,
      npm_config_registry: registries.url,
      npm_config_cache: join(folder.path, "npm-cache"),
      XDG_STATE_HOME: join(folder.path, "state"),
    },
  };
}

const data = (): string => join(folder.path, "data");
const serve = (): Promise<ServedFolder> => serveFolder(data(), options());

async function ask(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const headers = {
    authorization: `Bearer ${server.token}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const response = await fetch(new URL(path, server.url), {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function reached(requestId: string, state: string): Promise<Record<string, unknown>> {
  return vi.waitFor(async () => {
    const { body } = await ask("GET", `/subagent/requests/${requestId}`);
    expect(`${String(body["state"])} ${String(body["message"])}`).toContain(state);
    return body;
  }, SLOW);
}

describe("a request to the sub-agent", { timeout: 240_000 }, () => {
  it("is followed from the registry to a tool that can be called, over a restart and a person's yes", async () => {
    const taken = await ask("POST", "/subagent/requests", { type: "add_server", params: { serverName: NOTES } });
    expect(taken.status).toBe(202);
    const requestId = String(taken.body["requestId"]);
    const waiting = await reached(requestId, "awaiting_approval");
    expect(JSON.parse(readFileSync(join(folder.path, "mcp-servers.json"), "utf8"))).toMatchObject({
      servers: [{ id: "notes", enabled: false }],
    });
    expect((await ask("GET", "/tools")).body["items"]).not.toContainEqual(
      expect.objectContaining({ id: "notes_list_notes" }),
    );
    expect(waiting["energyConsumed"]).toBeGreaterThanOrEqual(5);

    await server.stop("SIGKILL");
    server = await serve();
    await reached(requestId, "awaiting_approval");
    const [approval] = (await ask("GET", "/approvals?state=pending")).body["items"] as {
      id: string;
      parameters: unknown;
    }[];
    expect(approval).toMatchObject({
      tool: "ergon::enable_server",
      parameters: { serverId: "notes", about: { package: `${PACKAGE}@1.0.0` } },
    });
    const always = await ask("POST", `/approvals/${approval?.id ?? ""}`, { decision: "approve", remember: "tool" });
    expect(always.status).toBe(422);
    const said = await ergon(["approvals", "approve", approval?.id ?? "", "--data", data()], options());
    expect(said.code, said.err).toBe(0);
    await reached(requestId, "completed");
    await vi.waitFor(async () => {
      expect((await ask("GET", "/tools")).body["items"]).toContainEqual(
        expect.objectContaining({ id: "notes_list_notes" }),
      );
    }, SLOW);
    const called = await ergon(["tools", "call", "notes_list_notes", "--json", "--data", data()], options());
    expect(called.code, called.err).toBe(0);
    expect(called.out).toContain("none yet");
  });

  it("leaves nothing behind when a person says no, is another's to nobody, and shows to tools", async () => {
    const args = { serverName: NOTES, purpose: "notes", priority: "high" };
    const call = await ask("POST", "/tools/mcp_request_server_addition/call", { args });
    expect(call.body).toMatchObject({ output: { requestId: expect.stringMatching(/^sub_/) as string } });
    const { requestId } = call.body["output"] as { requestId: string };
    await vi.waitFor(async () => {
      const { body } = await ask("POST", "/tools/mcp_check_subagent_status/call", { args: { requestId } });
      expect(body).toMatchObject({ output: { state: "awaiting_approval" } });
    }, SLOW);
    const [approval] = (await ask("GET", "/approvals?state=pending")).body["items"] as { id: string }[];
    await ask("POST", `/approvals/${approval?.id ?? ""}`, { decision: "deny", feedback: "no notes" });
    await vi.waitFor(async () => {
      const { body } = await ask("POST", "/tools/mcp_check_subagent_status/call", { args: { requestId } });
      expect(body).toMatchObject({ output: { state: "failed", error: expect.stringContaining("no notes") as string } });
    }, SLOW);
    expect(existsSync(join(data(), "servers", "notes"))).toBe(false);
    expect(readFileSync(join(folder.path, "mcp-servers.json"), "utf8")).not.toContain("notes");
    const forged = await ask("POST", "/tools/ergon::enable_server/call", { args: { serverId: "notes" } });
    expect(forged.status).toBe(202);
    await ask("POST", `/approvals/${String(forged.body["approvalId"])}`, { decision: "approve" });
    expect((await ask("GET", "/subagent/requests/sub_unknown")).status).toBe(404);
    expect((await ask("POST", "/subagent/requests", { type: "add_server", params: { command: "sh" } })).status).toBe(
      422,
    );
  });
});
