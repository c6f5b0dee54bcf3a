import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { StoredEvent } from "@ergon/core";
import type { HubServerStatus, HubStats } from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findFence } from "../../packages/node/src/sandbox/fence.ts";
import { lookForFence } from "../../packages/node/src/sandbox/profiles.ts";
import { startScriptedServer } from "../../packages/node/src/models/scripted-server.fixture.ts";
import { type Answer, ergon, temporaryFolder } from "./ergon.ts";
import { CLIENTS, type Connected, type Target } from "./mcp-clients.ts";
import { leaveNothingOn, processesOn, until } from "./processes.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

const fence = await lookForFence(findFence);
const require = createRequire(import.meta.url);
const program = (name: string) => require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);
const RESOURCE_PROMPT = { resourceType: "Text", resourceId: "1" };
const HOSTILE = join(import.meta.dirname, "../../packages/node/src/hub/hostile-server.fixture.ts");

let folder: ReturnType<typeof temporaryFolder>;
let served: ServedFolder | undefined;
beforeEach(() => {
  folder = temporaryFolder();
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

/** What a user has approved lies in the test's own folder, not in the tester's. Asking has tests of its own. */
const env = () => ({
  XDG_STATE_HOME: join(folder.path, "state"),
  XDG_CACHE_HOME: join(folder.path, "cache"),
  MCP_TOOL_APPROVAL: "false",
});
const data = () => join(folder.path, "data");
const config = () => join(folder.path, "mcp-servers.json");
const run = (...args: readonly string[]): Promise<Answer> =>
  ergon([...args, "--data", data()], { cwd: folder.path, env: env() });
const parsed = ({ out }: Answer): unknown => JSON.parse(out);
/** Started with a word of this folder, so that what is left running is found. */
const files = () => ["--", process.execPath, program("filesystem"), folder.path];

function writeServers(...servers: readonly Record<string, unknown>[]): void {
  writeFileSync(config(), JSON.stringify({ servers }));
}
const hostile = (id: string, ...args: readonly string[]) => ({
  id,
  command: process.execPath,
  args: [HOSTILE, ...args, folder.path],
});

async function serve(more: Readonly<Record<string, string>> = {}): Promise<ServedFolder> {
  served = await serveFolder(data(), { cwd: folder.path, env: { ...env(), MCP_CONFIG_PATH: config(), ...more } });
  return served;
}

async function ask(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  if (served === undefined) throw new Error("Nothing is served.");
  const response = await fetch(new URL(path, served.url), {
    method,
    headers: { authorization: `Bearer ${served.token}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json()) as object) };
}

async function statusOf(id: string): Promise<HubServerStatus | undefined> {
  const { items } = (await ask("GET", "/servers")) as { items?: HubServerStatus[] };
  return items?.find((server) => server.id === id);
}

async function untilState(id: string, state: string): Promise<void> {
  for (let tries = 0; (await statusOf(id))?.state !== state; tries += 1) {
    if (tries > 600) throw new Error(`"${id}" is ${JSON.stringify(await statusOf(id))}, not ${state}.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe("ergon servers", { timeout: 120_000 }, () => {
  it("has nothing to show where there is nothing, and makes no folder for it", async () => {
    const { err, code } = await run("servers");
    expect(code).toBe(0);
    expect(err).toContain("No MCP servers.");
    expect(parsed(await run("servers", "list", "--json"))).toMatchObject({ items: [], file: config(), problems: [] });
    expect(parsed(await run("servers", "stats", "--json"))).toEqual({ servers: [], tools: [] });
    expect(existsSync(data())).toBe(false);
  });

  it("adds a published server, whose tools are tools like any other, and leaves no process behind", async () => {
    const added = await run("servers", "add", "files", "--json", ...files());
    expect(parsed(added)).toMatchObject({ id: "files", state: "ready", connected: true, errors: [] });
    expect(JSON.parse(readFileSync(config(), "utf8"))).toMatchObject({ servers: [{ id: "files", enabled: true }] });

    writeFileSync(join(folder.path, "note.txt"), "Hello from a file.");
    const args = JSON.stringify({ path: join(folder.path, "note.txt") });
    const called = await run("tools", "call", "files_read_text_file", "--args", args, "--json");
    expect(parsed(called)).toEqual({ output: { content: "Hello from a file." } });

    const { items } = parsed(await run("tools", "list", "--json")) as { items: { id: string; origin: string }[] };
    expect(items).toContainEqual(
      expect.objectContaining({ id: "files_read_text_file", origin: "hub", effects: "once" }),
    );
    expect((await run("tools", "show", "files_read_text_file")).out).toContain('of the MCP server "files"');
    expect((await run("servers")).out).toMatch(/files\s+ready/);
    expect(parsed(await run("servers", "test", "files", "--json"))).toMatchObject({ ok: true });

    const stats = parsed(await run("servers", "stats", "--json")) as HubStats;
    expect(stats.tools).toMatchObject([{ tool: "files_read_text_file", calls: 1, failures: 0, successRate: 1 }]);
    expect(stats.servers).toMatchObject([{ id: "files", totalInvocations: 1, totalFailures: 0 }]);

    expect(parsed(await run("servers", "remove", "files", "--json"))).toEqual({ removed: "files" });
    expect((await run("tools", "call", "files_read_text_file", "--args", args)).err).toContain("no tool");
    expect(processesOn(folder.path)).toEqual([]);
  });

  it.each("fence" in fence ? ["bubblewrap"] : [])(
    "fences what it adds with %s unless told otherwise, and says what it may do",
    async () => {
      const add = (id: string, ...flags: readonly string[]): Promise<Answer> =>
        run("servers", "add", id, "--data", data(), ...flags, "--", process.execPath, HOSTILE, "probes");
      const added = await add("fenced");
      expect([added.code, added.err]).toEqual([0, expect.stringContaining('"fenced" is fenced: it reads its program')]);
      expect(added.err).toContain("It may use the network.");
      expect(added.err).toMatch(/warning: its "access" names folders that hold .*mcp-servers.json/);
      const probe = async (server: string, path: string): Promise<string> =>
        (await run("tools", "call", `${server}_read`, "--args", JSON.stringify({ path }), "--json")).out;
      const keys = [join(data(), "token"), config(), join(folder.path, "state", "ergon", "key")];
      folder.write({ "note.txt": "Hello.", "state/ergon/key": "secret" });
      expect(await probe("fenced", join(folder.path, "note.txt"))).toContain("Hello.");
      for (const key of keys) expect(await probe("fenced", key)).toMatch(/ENOENT|EACCES/);

      const limited = await add("apart", "--no-network", "--write", folder.path);
      expect(limited.err).toContain("It has no network.");
      const open = await add("open", "--no-fence");
      expect(open.err).toContain('"open" runs unfenced (--no-fence was given): it can read and change all your files');
      expect(await probe("open", config())).toContain("servers");
      const { out } = await run("servers");
      expect(out).toMatch(/apart .* fenced/);
      expect(out).toMatch(/open .* unfenced/);
      expect((await run("doctor")).out).toContain("unfenced, with all of your rights: open");
      expect(JSON.parse(readFileSync(config(), "utf8"))).toMatchObject({
        servers: [
          { id: "fenced", cwd: folder.path, access: { read: [folder.path], network: true } },
          { id: "apart", access: { write: expect.arrayContaining([folder.path]) as string[], network: false } },
          { id: "open" },
        ],
      });
      expect((await add("odd", "--no-fence", "--no-network")).code).toBe(2);
    },
  );

  it("keeps a server that cannot be started, says why in a sentence, and fails", async () => {
    const { code, out, err } = await run("servers", "add", "lost", "--", "/nonexistent/program");
    expect(code).toBe(1);
    expect(out).toMatch(/lost\s+down/);
    expect(err).toContain('The server "lost" is in the configuration, but it could not be started');
    expect(err).toContain('could not be started: its command "/nonexistent/program" was not found\n');
    expect(err).toContain("ergon servers remove lost");
    expect(err).not.toContain("{");
    expect(JSON.parse(readFileSync(config(), "utf8"))).toMatchObject({ servers: [{ id: "lost" }] });

    const broken = ["--", process.execPath, HOSTILE, "exits", "no licence", folder.path];
    const json = await run("servers", "add", "broken", "--json", ...broken);
    expect([json.code, json.err]).toEqual([1, ""]);
    expect(parsed(json)).toMatchObject({ id: "broken", state: "down", connected: false });
    expect((parsed(json) as HubServerStatus).errors.at(-1)).toMatch(/^it exited with code \d+; it said: no licence$/);

    const tools = await run("tools", "list");
    expect([tools.code, tools.err]).toEqual([
      0,
      expect.stringMatching(/warning: the tools of the server "lost" are not/),
    ]);
    const off = await run("servers", "add", "off", "--disabled", "--", "/nonexistent/program");
    expect(off).toMatchObject({ code: 0, out: expect.stringMatching(/off\s+disabled/) });
  });

  it("runs a plan over two servers, checks it before, and forgets nothing of it", async () => {
    await run("servers", "add", "files", ...files());
    const memory = ["--env", `MEMORY_FILE_PATH=${join(folder.path, "graph.json")}`];
    await run("servers", "add", "memory", ...memory, "--", process.execPath, program("memory"), folder.path);
    const path = join(folder.path, "out.txt");
    folder.write({
      "remember.plan.json": JSON.stringify({
        planId: "remember",
        description: "Writes a file and remembers it.",
        parameters: { type: "object" },
        startStepId: "write",
        steps: [
          {
            id: "write",
            type: "tool_call",
            toolId: "files_write_file",
            arguments: { path, content: "kept" },
            nextStepId: "note",
          },
          {
            id: "note",
            type: "tool_call",
            toolId: "memory_create_entities",
            arguments: { entities: [{ name: "out", entityType: "file", observations: ["kept"] }] },
            nextStepId: "done",
          },
          { id: "done", type: "final_response", message: "done" },
        ],
      }),
    });
    expect((await run("plans", "validate", "remember.plan.json")).out).toContain("ok remember.plan.json: 2 calls");
    expect((await run("run", "remember.plan.json", "--dry-run")).code).toBe(0);
    expect(existsSync(path)).toBe(false);
    const { code, out } = await run("run", "remember.plan.json");
    expect([code, out]).toEqual([0, expect.stringContaining("done")]);
    expect(readFileSync(path, "utf8")).toBe("kept");
    expect(readFileSync(join(folder.path, "graph.json"), "utf8")).toContain('"out"');
  });

  it("hands servers' tools to the planner of ask, and its model to a server that is trusted", async () => {
    const lentMs = 700;
    const model = await startScriptedServer([
      JSON.stringify([{ tool: "everything_echo", args: { message: "out there" } }]),
      { kind: "text", text: "Lent.", delayMs: lentMs },
    ]);
    try {
      writeServers({
        id: "everything",
        command: process.execPath,
        args: [program("everything"), "stdio", folder.path],
        trusted: true,
      });
      const using = { ERGON_MODEL: "local/tiny", ERGON_MODEL_URL: model.url, MCP_CONFIG_PATH: config() };
      const typed = (...words: readonly string[]) =>
        ergon([...words, "--data", data(), "--json"], { cwd: folder.path, env: { ...env(), ...using } });
      expect((await typed("ask", "say it")).out).toContain("Echo: out there");
      const args = JSON.stringify({ prompt: "Well?", maxTokens: 10 });
      const lent = await typed("tools", "call", "everything_trigger-sampling-request", "--args", args);
      expect(lent.out).toContain("Lent.");
      // The model's time is the call's, and is charged with it.
      const { tools } = parsed(await typed("servers", "stats")) as HubStats;
      const { p50Energy } = tools.find(({ tool }) => tool.endsWith("sampling-request")) ?? {};
      expect(p50Energy).toBeGreaterThanOrEqual((2 * lentMs) / 1_000);
    } finally {
      await model.close();
    }
  });

  it("lists and reads what a server has beside its tools", async () => {
    const everything = [process.execPath, program("everything"), "stdio", folder.path];
    await run("servers", "add", "everything", "--", ...everything);
    const { resources } = parsed(await run("servers", "resources", "everything", "--json")) as {
      resources: { uri: string }[];
    };
    const uri = resources[0]?.uri ?? "";
    expect(parsed(await run("servers", "resources", "everything", uri, "--json"))).toMatchObject({
      contents: [{ uri }],
    });
    const { prompts } = parsed(await run("servers", "prompts", "everything", "--json")) as {
      prompts: { name: string }[];
    };
    expect(prompts.map(({ name }) => name)).toContain("simple-prompt");
    expect((await run("servers", "prompts", "everything", "simple-prompt")).out).toContain('"messages"');
    const refused = await run("servers", "resources", "everything", "demo://nowhere/at/all");
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("error")]);
    expect((await run("servers", "prompts", "nobody")).err).toContain('no MCP server "nobody"');
  });

  it("starts a server that was found, not named, only after a person approved it", async () => {
    writeServers(hostile("found", "fine"));
    const before = await run("servers", "list", "--json");
    expect(parsed(before)).toMatchObject({ items: [{ id: "found", connected: false, needsApproval: true }] });
    const refused = await run("tools", "call", "found_echo", "--args", "{}");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("ergon servers approve found");
    expect((await run("servers", "test", "found")).code).toBe(1);

    expect(parsed(await run("servers", "approve", "found", "--json"))).toMatchObject({ state: "ready" });
    expect((await run("tools", "call", "found_echo", "--args", '{"a":1}')).out).toContain('{"a":1}');

    writeServers(hostile("found", "fine", "another-argument"));
    expect(parsed(await run("servers", "list", "--json"))).toMatchObject({ items: [{ needsApproval: true }] });
  });

  it("imports what another program has, and says what was left out", async () => {
    const mcpServers = {
      fine: { command: process.execPath, args: [HOSTILE, "fine", folder.path] },
      both: { command: "x", url: "https://example.org" },
      mcp: { command: process.execPath, args: [HOSTILE, "fine", folder.path] },
    };
    folder.write({ "claude.json": JSON.stringify({ mcpServers }) });
    const { items, notes } = parsed(await run("servers", "import", "claude.json", "--json")) as {
      items: HubServerStatus[];
      notes: string[];
    };
    expect(items).toMatchObject([{ id: "fine", state: "ready" }]);
    expect(notes.join("\n")).toMatch(/"both" was left out[^]*"mcp" was left out/);
    expect((await run("servers", "import", "nowhere.json")).code).toBe(2);
  });

  it.each([
    [["servers", "add", "x"], "Say how"],
    [["servers", "add", "x", "--url", "file:///etc/passwd"], "http"],
    [["servers", "add", "x", "--env", "nothing", "--", "y"], "--env NAME=VALUE"],
    [["servers", "add", "plan", "--", "y"], "Ergon's own"],
    [["servers", "remove", "x"], 'no server "x"'],
    [["servers", "test", "x"], 'no server "x"'],
    [["servers", "tset", "x"], 'Did you mean "test"'],
  ])("%j is refused, and nothing changed", async (args, reason) => {
    const { code, err } = await run(...args);
    expect(code).not.toBe(0);
    expect(err).toContain(reason);
    expect(existsSync(config())).toBe(false);
  });
});

describe("the hub of a server", { timeout: 120_000 }, () => {
  it("follows its file: what is added starts, what is taken out ends, what stays is not touched", async () => {
    writeServers(hostile("stays", "fine"), hostile("goes", "fine"));
    await serve();
    await untilState("goes", "ready");
    await untilState("stays", "ready");
    const who = async () => (await ask("POST", "/tools/stays_whoami/call", {}))["output"];
    const before = await who();
    writeServers(hostile("stays", "fine"), hostile("comes", "fine"));
    await untilState("comes", "ready");
    expect(await statusOf("goes")).toBeUndefined();
    expect(await who()).toBe(before);
    const { items } = (await ask("GET", "/tools")) as { items?: { id: string }[] };
    const ids = (items ?? []).map(({ id }) => id);
    expect([ids.includes("comes_echo"), ids.includes("goes_echo")]).toEqual([true, false]);
  });

  it("is changed over HTTP, tells of it in events, and writes only what was asked", async () => {
    await serve();
    expect((await ask("POST", "/servers", hostile("one", "fine")))["status"]).toBe(201);
    expect((await ask("POST", "/servers", hostile("one", "fine")))["status"]).toBe(409);
    expect((await ask("POST", "/servers", { id: "two", command: "x", url: "http://x" }))["status"]).toBe(422);
    expect(await ask("PATCH", "/servers/one", { enabled: false })).toMatchObject({ status: 200, state: "disabled" });
    expect(await ask("PATCH", "/servers/one", { enabled: true, timeoutMs: 9_000 })).toMatchObject({ state: "ready" });
    expect(await ask("PATCH", "/servers/one", { timeoutMs: null })).toMatchObject({ state: "ready" });
    expect(await ask("PATCH", "/servers/one", { command: null })).toMatchObject({ status: 422 });
    expect(await ask("POST", "/servers/one/test", {})).toMatchObject({ ok: true });
    const { servers } = JSON.parse(readFileSync(config(), "utf8")) as { servers: unknown[] };
    expect(servers).toEqual([{ ...hostile("one", "fine"), name: "one", enabled: true }]);
    expect(await ask("DELETE", "/servers/one")).toMatchObject({ status: 200, removed: "one" });
    const types = (await events()).map(
      ({ type, data }) => `${type} ${JSON.stringify(data["state"] ?? data["addedCount"])}`,
    );
    expect(types).toEqual(
      expect.arrayContaining([
        'server-changed "ready"',
        expect.stringMatching(/^tools-changed [1-9]/),
        'server-changed "disabled"',
      ]),
    );
  });

  it("goes on without a server that fails, and says why it is down and when it is tried again", async () => {
    writeServers(hostile("bad", "exits", "no licence"), hostile("good", "fine"), {
      id: "keyless",
      command: "x",
      env: { KEY: "${NO_SUCH_KEY}" },
    });
    await serve();
    await untilState("good", "ready");
    await untilState("bad", "down");
    expect(await statusOf("bad")).toMatchObject({ errors: [expect.stringContaining("no licence")] });
    expect((await statusOf("bad"))?.nextTryAt).toMatch(/^\d{4}-/);
    expect((await statusOf("keyless"))?.errors.join()).toContain("${NO_SUCH_KEY}");
    expect(await ask("POST", "/tools/good_echo/call", { args: {} })).toMatchObject({ status: 200 });
    expect(await ask("POST", "/tools/bad_echo/call", { args: {} })).toMatchObject({ status: 503, code: "server_down" });
  });

  it("answers outcome_unknown for a call that was sent and never answered, with its intent written before", async () => {
    writeServers(hostile("fragile", "fine"));
    await serve();
    await untilState("fragile", "ready");
    const answer = await ask("POST", "/tools/fragile_crash/call", { args: {} });
    expect(answer).toMatchObject({ status: 502, code: "outcome_unknown" });
    const { items } = (await ask("GET", "/sessions?status=paused_on_error")) as { items?: unknown[] };
    expect(items).toMatchObject([{ lastError: { code: "outcome_unknown", needsPerson: true } }]);
    await untilState("fragile", "ready");
    const stats = (await ask("GET", "/stats")) as { hub?: HubStats };
    expect(stats.hub?.tools).toMatchObject([{ tool: "fragile_crash", failures: 1, errors: { outcome_unknown: 1 } }]);
  });

  it("keeps a large result as a blob", async () => {
    await serve();
    folder.write({ "large.txt": "x".repeat(100_000) });
    await ask("POST", "/servers", {
      id: "files",
      command: process.execPath,
      args: [program("filesystem"), folder.path],
    });
    const args = { path: join(folder.path, "large.txt") };
    const { output } = (await ask("POST", "/tools/files_read_text_file/call", { args })) as { output?: object };
    expect(output).toMatchObject({ $blob: expect.any(String), bytes: expect.any(Number) });
  });

  it.each(["http", "stdio", "stdio beside a server"])(
    "shows the servers' tools to MCP clients with --gateway, over %s",
    async (way) => {
      const everything = { command: process.execPath, args: [program("everything"), "stdio", folder.path] };
      writeServers(
        { ...hostile("one", "fine"), autoApprove: true },
        { ...hostile("asked", "fine"), autoApprove: false },
        { id: "everything", ...everything, autoApprove: ["get-*", "gzip-*", "resources/read", "prompts/get"] },
      );
      if (way !== "stdio") {
        const options = { cwd: folder.path, env: { MCP_CONFIG_PATH: config() }, args: ["--gateway"] };
        served = await serveFolder(data(), options);
      }
      for (const connect of Object.values(CLIENTS)) {
        const target: Target =
          way === "http" && served !== undefined
            ? { kind: "http", url: served.url, token: served.token }
            : { kind: "stdio", data: data(), args: ["--gateway", "--mcp-config", config()], cwd: folder.path };
        const client = await connect(target);
        try {
          expect(await client.tools()).toEqual(expect.arrayContaining(["one_echo", "everything_get-sum", "run_plan"]));
          expect(await client.call("one_echo", { a: 1 })).toMatchObject({
            isError: false,
            structured: { output: '{"a":1}' },
          });
          expect((await client.call("everything_get-sum", { a: 1, b: 2 })).text).toContain("3");
          expect(await client.call("asked_echo", { a: 1 })).toMatchObject({
            structured: { code: "approval_required", approvalId: expect.any(String) },
          });
          expect(await client.call("everything_get-sum", { a: "one" })).toMatchObject({
            isError: true,
            structured: { code: "args_invalid" },
          });
          await readsThrough(client);
        } finally {
          await client.close();
        }
      }
    },
  );

  it("tells MCP clients on stdio, beside the process that has the servers, of tools that come", async () => {
    writeServers({ ...hostile("one", "fine"), autoApprove: true });
    await serve();
    const args = ["--gateway", "--mcp-config", config()];
    const client = await CLIENTS["SDK v1"]({ kind: "stdio", data: data(), args, cwd: folder.path, env: env() });
    try {
      expect(await client.tools()).toContain("one_echo");
      const { command, args: words } = hostile("two", "fine");
      await ask("POST", "/servers", { id: "two", command, args: words });
      await expect.poll(() => client.changed.has("tools"), { timeout: 30_000, interval: 20 }).toBe(true);
      await expect.poll(() => client.tools(), { timeout: 30_000 }).toContain("two_echo");
    } finally {
      await client.close();
    }
  });

  /** What a published server has beside its tools, as one of its own would show it. */
  async function readsThrough(client: Connected): Promise<void> {
    const prefix = "ergon://servers/everything/";
    const text = `${prefix}demo://resource/dynamic/text/7`;
    const uris = await client.resources();
    expect(uris).toContain(`${prefix}demo://resource/dynamic/text/{resourceId}`);
    const document = uris.find((uri) => uri.startsWith(`${prefix}demo://resource/static/`)) ?? "";
    expect(await client.read(document)).toMatchObject([{ uri: document, text: expect.stringMatching(/\S/) }]);
    expect(await client.read(text)).toMatchObject([{ uri: text, text: expect.stringContaining("Resource 7") }]);
    await expect(client.read(`${prefix}demo://nowhere/at/all`)).rejects.toThrow(/not found|nowhere/i);
    await expect(client.read("ergon://servers/nobody/demo://x")).rejects.toThrow(/not found/i);

    const linking = [
      ["everything_get-resource-links", { count: 2 }],
      ["everything_get-resource-reference", { resourceType: "Text", resourceId: 1 }],
    ] as const;
    for (const [tool, args] of linking) {
      const { output } = (await client.call(tool, args)).structured as { output?: { content: Json[] } };
      const [linked = ""] = (output?.content ?? []).flatMap(({ uri, resource }) => uri ?? resource?.uri ?? []);
      expect(linked).toMatch(/^ergon:\/\/servers\/everything\/demo:/);
      expect(await client.read(linked)).toMatchObject([{ uri: linked }]);
    }

    expect(await client.prompts()).toContain("everything_args-prompt");
    expect(JSON.stringify(await client.prompt("everything_resource-prompt", RESOURCE_PROMPT))).toContain(
      `"${prefix}demo:`,
    );
    const messages = JSON.stringify(await client.prompt("everything_args-prompt", { city: "Oslo", state: "x" }));
    expect(messages).toContain("Oslo");

    const prompt = "everything_completable-prompt";
    expect(await client.complete({ prompt }, { name: "department", value: "S" })).toEqual(["Sales", "Support"]);
    const department = { department: "Engineering" };
    expect(await client.complete({ prompt }, { name: "name", value: "B" }, department)).toEqual(["Bob"]);
    const template = `${prefix}demo://resource/dynamic/text/{resourceId}`;
    expect(await client.complete({ template }, { name: "resourceId", value: "7" })).toEqual(["7"]);
    expect(await client.complete({ template }, { name: "resourceId", value: "x" })).toEqual([]);
    expect(await client.complete({ template: "ergon://servers/nobody/x://{id}" }, { name: "id", value: "" })).toEqual(
      [],
    );
    const gzip = { name: `${crypto.randomUUID()}.gz`, data: "data:text/plain,hello", outputType: "resourceLink" };
    client.changed.clear();
    expect(await client.call("everything_gzip-file-as-resource", gzip)).toMatchObject({ isError: false });
    await expect.poll(() => client.changed.has("resources"), { timeout: 30_000, interval: 20 }).toBe(true);
    expect((await client.resources()).some((uri) => uri.startsWith(prefix) && uri.endsWith(gzip.name))).toBe(true);
  }

  type Json = { readonly uri?: string; readonly resource?: { readonly uri: string } };

  it("asks about what is read of a server that nobody allowed, and hides its keys", async () => {
    const offering = join(import.meta.dirname, "../../packages/node/src/hub/offering-server.fixture.ts");
    const key = "sk-canary-0123456789";
    const offers = { command: process.execPath, args: [offering, "1", folder.path], env: { API_KEY: key } };
    writeServers(
      { id: "asked", ...offers },
      { id: "open", ...offers, autoApprove: ["resources/read"] },
      { id: "shut", ...offers, autoApprove: true },
    );
    const text = readFileSync(config(), "utf8").replace(
      /}$/,
      `, "approvalRules": [{ "decision": "deny", "server": "shut" }]}`,
    );
    writeFileSync(config(), text);
    served = await serveFolder(data(), { cwd: folder.path, env: { MCP_CONFIG_PATH: config() }, args: ["--gateway"] });
    const client = await CLIENTS["SDK v2, 2025"]({ kind: "http", url: served.url, token: served.token });
    try {
      const read = (server: string, uri: string) => client.read(`ergon://servers/${server}/${uri}`);
      expect(await read("open", "count://0")).toMatchObject([{ text: "[hidden]" }]);
      expect(await read("open", "long://0/100000")).toMatchObject([{ text: "x".repeat(100_000) }]);
      await expect(client.prompt("open_0", {})).rejects.toMatchObject({ data: { code: "approval_required" } });
      await expect(read("shut", "count://0")).rejects.toMatchObject({ data: { code: "approval_denied" } });
      const refused: unknown = await read("asked", "count://0").catch((thrown: unknown) => thrown);
      expect(refused).toMatchObject({ data: { code: "approval_required", approvalId: expect.any(String) } });
      const { approvalId } = (refused as { data: { approvalId: string } }).data;
      expect(await ask("GET", `/approvals/${approvalId}`)).toMatchObject({
        tool: "asked_resources::read",
        server: "asked",
        parameters: { uri: "count://0" },
      });
      await ask("POST", `/approvals/${approvalId}`, { decision: "approve", remember: "tool" });
      expect(await read("asked", "count://0")).toMatchObject([{ text: "[hidden]" }]);
      expect(readFileSync(config(), "utf8")).toContain('"resources/read"');
    } finally {
      await client.close();
    }
  });

  it("takes its servers along when it is killed", async () => {
    writeServers(hostile("one", "stays"), {
      id: "shell",
      command: "/bin/sh",
      args: ["-c", `${process.execPath} ${HOSTILE} stays ${folder.path}; true`],
    });
    await serve();
    await untilState("one", "ready");
    await untilState("shell", "ready");
    expect(processesOn(folder.path).length).toBeGreaterThan(2);
    const killedAt = Date.now();
    await served?.stop("SIGKILL");
    served = undefined;
    await until("no process of a server is left", () => processesOn(folder.path).length === 0);
    expect(Date.now() - killedAt).toBeLessThan(5_000);
  });

  async function events(): Promise<StoredEvent[]> {
    const stop = new AbortController();
    const response = await fetch(new URL("/events", served?.url), {
      headers: { authorization: `Bearer ${served?.token ?? ""}`, "last-event-id": "0" },
      signal: stop.signal,
    });
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (text.includes('"disabled"')) break;
    }
    stop.abort();
    return [...text.matchAll(/^data: (.*)$/gm)].map(([, line = ""]) => JSON.parse(line) as StoredEvent);
  }
});
