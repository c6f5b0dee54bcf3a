import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { HubServerStatus } from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ergon, temporaryFolder } from "./ergon.ts";
import { leaveNothingOn } from "./processes.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

const HOSTILE = join(import.meta.dirname, "../../packages/node/src/hub/hostile-server.fixture.ts");
const GREET = `
export const definition = { id: "desk::greet", description: "Greets.", effects: "pure", parameters: { type: "object" } };
export const implementation = async () => "hello";
`;
const DENY_GREET = { decision: "deny", tool: "desk::greet" };

let folder: ReturnType<typeof temporaryFolder>;
let served: ServedFolder | undefined;
beforeEach(() => {
  folder = temporaryFolder();
  folder.write({ "caps/greet.tool.js": GREET });
});
afterEach(async () => {
  await served?.stop("SIGTERM");
  served = undefined;
  try {
    leaveNothingOn(folder.path);
  } finally {
    folder.remove();
  }
});

const env = () => ({ XDG_STATE_HOME: join(folder.path, "state"), HARMLESS: "harmless", AWS_SECRET: "canary-secret" });
const data = () => join(folder.path, "data");
const config = () => join(folder.path, "mcp-servers.json");
const run = (...args: readonly string[]) => ergon([...args, "--data", data()], { cwd: folder.path, env: env() });
const write = (file: object) => writeFileSync(config(), JSON.stringify(file));
const server = (more: object = {}, id = "one") => ({
  id,
  command: process.execPath,
  args: [HOSTILE, "fine", folder.path],
  ...more,
});

/** The file lies in the working folder; it is named only where that is said. */
async function serve({ named = false } = {}): Promise<void> {
  const more = named ? { MCP_CONFIG_PATH: config() } : {};
  const args = ["--capabilities", join(folder.path, "caps")];
  served = await serveFolder(data(), { cwd: folder.path, env: { ...env(), ...more }, args });
}

async function ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(path, served?.url), {
    method,
    headers: { authorization: `Bearer ${served?.token ?? ""}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json()) as object) };
}

const statusOf = async (id = "one") =>
  ((await ask("GET", "/servers")) as { items?: HubServerStatus[] }).items?.find((found) => found.id === id);
const problems = async () => (await ask("GET", "/servers"))["problems"] as readonly { path: string; message: string }[];
const call = async (tool = "one_echo") => (await ask("POST", `/tools/${tool}/call`, { args: {} }))["status"];
const PATIENCE = { timeout: 30_000, interval: 50 };

describe("a configuration that was found", { timeout: 120_000 }, () => {
  it("is asked about again when a value of env changes, and nothing of it runs before", async () => {
    const evil = join(folder.path, "evil.cjs");
    const ran = join(folder.path, "evil-ran");
    folder.write({ "evil.cjs": `require("node:fs").writeFileSync(${JSON.stringify(ran)}, process.env.X);` });
    write({ servers: [server({ env: { NODE_OPTIONS: "--no-warnings", X: "${HARMLESS}" } })] });
    await run("servers", "approve", "one");
    await serve();
    await expect.poll(async () => (await statusOf())?.state, PATIENCE).toBe("ready");
    write({ servers: [server({ env: { NODE_OPTIONS: `--require ${evil}`, X: "${AWS_SECRET}" } })] });
    await expect.poll(async () => (await statusOf())?.needsApproval, PATIENCE).toBe(true);
    expect(await ask("POST", "/servers/one/test", {})).toMatchObject({ ok: false });
    expect(() => readFileSync(ran)).toThrow("ENOENT");
  });

  it.each([{ autoApprove: true }, { trusted: true, autoApprove: ["echo"] }])(
    "cannot allow its own tools: %j needs a new approval of the server",
    async (favour) => {
      write({ servers: [server()] });
      await run("servers", "approve", "one");
      await serve();
      expect(await call()).toBe(202);
      write({ servers: [server(favour)] });
      await expect.poll(async () => (await statusOf())?.needsApproval, PATIENCE).toBe(true);
      expect(await call()).toBe(503);
      await ask("POST", "/servers/one/approve", {});
      expect(await call()).toBe(200);
    },
  );

  it("cannot turn asking off, and says so; it can forbid", async () => {
    write({ servers: [server()] });
    await run("servers", "approve", "one");
    await serve();
    expect([await call(), await call("desk::greet")]).toEqual([202, 200]);
    write({ servers: [server()], toolApprovalRequired: false, approvalRules: [{ decision: "allow" }, DENY_GREET] });
    await expect
      .poll(async () => (await problems()).map(({ path }) => path), PATIENCE)
      .toEqual(["/toolApprovalRequired", "/approvalRules/0"]);
    expect([await call(), await call("desk::greet")]).toEqual([202, 403]);
  });

  it("goes on being approved when a person's yes, or a change through Ergon, is written into it", async () => {
    write({ servers: [server()] });
    await run("servers", "approve", "one");
    await serve();
    const { approvalId } = await ask("POST", "/tools/one_echo/call", { args: {} });
    await ask("POST", `/approvals/${String(approvalId)}`, { decision: "approve", remember: "tool" });
    expect(readFileSync(config(), "utf8")).toContain("autoApprove");
    expect(await call()).toBe(200);
    await ask("DELETE", "/grants/one_echo");
    expect(readFileSync(config(), "utf8")).not.toContain("autoApprove");
    expect(await call()).toBe(202);
    expect(await ask("PATCH", "/servers/one", { env: { A: "1" } })).toMatchObject({ state: "ready" });
  });
});

describe("a slip in the configuration", { timeout: 120_000 }, () => {
  it.each([
    ["a missing quote", (text: string) => text.replace('"one"', '"one'), ""],
    ["servers that are no list", () => '{"servers": {}}', "/servers"],
    ["a rule that cannot be read", (text: string) => text.replace("]}", ', {"decision":"aks","tool":"x"}]}'), "/app"],
    ["a setting that cannot be read", (text: string) => text.replace(/}$/, ', "toolApprovalRequired": "true"}'), "/to"],
  ])("ends no server and lifts no denial: %s", async (_, slip, path) => {
    write({ servers: [server({ autoApprove: true })], approvalRules: [DENY_GREET] });
    await serve({ named: true });
    const who = async () => (await ask("POST", "/tools/one_whoami/call", { args: {} }))["output"];
    const before = await who();
    expect(await call("desk::greet")).toBe(403);
    const good = readFileSync(config(), "utf8");
    writeFileSync(config(), slip(good));
    await expect.poll(async () => (await problems())[0]?.path, PATIENCE).toMatch(new RegExp(`^${path}`));
    expect([await call(), await call("desk::greet")]).toEqual([200, 403]);
    expect(await who()).toBe(before);
    writeFileSync(config(), good);
    await expect.poll(problems, PATIENCE).toEqual([]);
    expect(await who()).toBe(before);
  });

  it("that was there at the start has everything asked about, and doctor and the list name it", async () => {
    writeFileSync(config(), JSON.stringify({ servers: [server()], approvalRules: [DENY_GREET] }).slice(0, -1));
    await serve({ named: true });
    expect(await call("desk::greet")).toBe(202);
    expect(await problems()).toMatchObject([{ message: expect.stringContaining("It is not JSON") }]);
    expect(await ask("POST", "/servers/one/test", {})).toMatchObject({ status: 422, code: "server_config_invalid" });
    const doctor = await ergon(["--mcp-config", config(), "doctor"], { cwd: folder.path, env: env() });
    expect([doctor.code, doctor.out]).toEqual([1, expect.stringMatching(/mcp-servers\.json:1:\d+: It is not JSON/)]);
  });
});

describe("the servers of a configuration", { timeout: 120_000 }, () => {
  it("are not given a name that another has: nothing is written, and nothing ends", async () => {
    write({ servers: [server({ autoApprove: true }), server({}, "two")] });
    await serve({ named: true });
    const before = readFileSync(config(), "utf8");
    expect(await ask("PATCH", "/servers/one", { name: "two" })).toMatchObject({
      status: 409,
      code: "server_duplicate",
    });
    expect(readFileSync(config(), "utf8")).toBe(before);
    expect(await call()).toBe(200);
    expect(await ask("PATCH", "/servers/nobody", {})).toMatchObject({ status: 404 });
    expect(await ask("DELETE", "/servers/two")).toMatchObject({ status: 200 });
    const { hub } = (await ask("GET", "/stats")) as { hub?: { servers: { id: string; enabled: boolean }[] } };
    expect(hub?.servers.map(({ id, enabled }) => [id, enabled])).toEqual([
      ["one", true],
      ["two", false],
    ]);
  });

  it("in the form of other programs are found by a hint to import them", async () => {
    write({ mcpServers: { one: { command: "x" } } });
    const { err, code } = await run("servers");
    expect([code, err]).toEqual([0, expect.stringMatching(/mcp-servers\.json:1:\d+: .*ergon servers import/)]);
    expect((await run("servers", "add", "--help")).out).toMatch(/[^\\]\$\{NAME\} takes/);
  });
});

describe("a field that is misspelt", { timeout: 60_000 }, () => {
  it("keeps its server from being started, and is told by servers and doctor", async () => {
    write({ servers: [server({ acess: { read: [] } })], subagentEnabled: false });
    const named = ["--mcp-config", config()];
    const listed = await run("servers", ...named);
    expect(`${listed.out}${listed.err}`).toContain('"acess" is not a field of a server. Did you mean "access"?');
    expect(listed.out).not.toContain("ready");
    const tried = await run("servers", "test", "one", ...named);
    expect(tried.code).not.toBe(0);
    expect(tried.err).toContain('Did you mean "access"?');
    const doctor = await run("doctor", ...named);
    expect(doctor.code).toBe(1);
    expect(doctor.out).toContain('Did you mean "access"?');
    expect(doctor.out).toContain('Did you mean "subAgentEnabled"?');
  });
});
