import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MCPServerConfig } from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { withoutServer, withServer, withServerField } from "./edit-servers.ts";
import { expandServer } from "./expand-server.ts";
import { importServers, MAX_IMPORTED } from "./import-servers.ts";
import { MAX_SERVERS_FILE_CHARS, readServers, type ServersFile } from "./read-servers.ts";
import { openServersFile } from "./servers-file.ts";

const PATIENCE = { timeout: 20_000, interval: 20 };

const FILE = `{
  // what we use every day
  "servers": [
    { "id": "files", "name": "files", "command": "npx", "args": ["-y", "files"], "enabled": true },
    { "id": "web", "url": "https://example.org/mcp", "headers": { "Authorization": "Bearer \${WEB_TOKEN}" } }, // remote
  ],
  "toolApprovalRequired": true,
}
`;

describe("reading mcp-servers.json", () => {
  it("takes comments and trailing commas, and fills in what may be left out", () => {
    const { servers, settings, problems } = readServers(FILE);
    expect(problems).toEqual([]);
    expect(servers.map(({ id, name, enabled }) => ({ id, name, enabled }))).toEqual([
      { id: "files", name: "files", enabled: true },
      { id: "web", name: "web", enabled: true },
    ]);
    expect(settings.toolApprovalRequired).toBe(true);
  });

  it("says the line and the column of what is wrong, and keeps the servers that are right", () => {
    const { servers, problems } = readServers(`{ "servers": [
  { "id": "a", "command": "a", "args": "one" },
  { "id": "b", "command": "b" },
  { "id": "b", "command": "b" },
  { "id": "c" },
  { "id": "d", "url": "file:///etc/passwd" }
] }`);
    expect(servers.map(({ id }) => id)).toEqual(["b"]);
    expect(problems).toEqual([
      expect.objectContaining({ place: "2:40", path: "/servers/0/args" }),
      expect.objectContaining({ place: "4:11", message: 'The server at /servers/1 is "b" too.' }),
      expect.objectContaining({ place: "5:3", message: 'A server has either a "command" or a "url".' }),
      expect.objectContaining({ place: "6:23", path: "/servers/4/url" }),
    ]);
  });

  it.each([
    ["", "value expected"],
    ["{", "It is not JSON"],
    ["[]", "expected object"],
    ['{"servers": {}}', "expected array"],
    ["x".repeat(MAX_SERVERS_FILE_CHARS + 1), "more than"],
  ])("refuses %.20j", (text, reason) => {
    const { servers, problems } = readServers(text);
    expect(servers).toEqual([]);
    expect(problems[0]?.message).toContain(reason);
  });
});

describe("a field that mcp-servers.json does not have", () => {
  const messages = (text: string) => readServers(text).problems.map(({ place, message }) => `${place} ${message}`);

  it("keeps its server from being started, with place and suggestion", () => {
    const { servers, problems } = readServers(`{ "servers": [
  { "id": "fenced", "command": "a", "acess": { "read": [] } },
  { "id": "half", "command": "a", "access": { "raed": ["/srv"] } },
  { "id": "login", "url": "https://example.org", "oauth": { "clientID": "x" } },
  { "id": "odd", "command": "a", "color": "red" },
  { "id": "fine", "command": "a" }
] }`);
    expect(servers.map(({ id }) => id)).toEqual(["fine"]);
    expect(problems).toEqual([
      {
        place: "2:46",
        path: "/servers/0/acess",
        serverId: "fenced",
        message: '"acess" is not a field of a server. Did you mean "access"?',
      },
      expect.objectContaining({ serverId: "half", message: '"raed" is not a field of "access". Did you mean "read"?' }),
      expect.objectContaining({
        serverId: "login",
        message: '"clientID" is not a field of "oauth". Did you mean "clientId"?',
      }),
      expect.objectContaining({
        serverId: "odd",
        message: expect.stringMatching(/"color" is not a field of a server\. Known are: id, name, command.*comments/i),
      }),
    ]);
  });

  it.each([
    ["type", "stdio", 'it follows from "command" or "url"'],
    ["disabled", true, '"enabled": false'],
    ["alwaysAllow", ["read"], '"autoApprove"'],
  ])("is said to be another program's, as %s is, and how to take it in", (field, value, here) => {
    const text = JSON.stringify({ servers: [{ id: "a", command: "a", [field]: value }] });
    expect(readServers(text).servers).toEqual([]);
    expect(messages(text)[0]).toContain(`"${field}" is a field of other programs' files`);
    expect(messages(text)[0]).toContain(here);
    expect(messages(text)[0]).toContain("ergon servers import FILE");
  });

  it("is a problem beside the servers, too, and a misspelt setting counts as what allows least", () => {
    const { servers, settings, problems } = readServers(
      JSON.stringify({
        $schema: "./schema.json",
        servers: [{ id: "a", command: "a" }],
        subagentEnabled: false,
        toolApprovalRequird: true,
        toolApprovalRequired: false,
        autodiscoveryEnabled: true,
        aprovalRules: [{ decision: "deny", tool: "rm_*" }, { decision: "allow" }],
        approvalRules: [{ decision: "allow", tool: "x" }],
        mcpServers: {},
      }),
    );
    expect(servers).toHaveLength(1);
    expect(settings).toEqual({
      subAgentEnabled: false,
      autoDiscoveryEnabled: false,
      toolApprovalRequired: true,
      approvalRules: [{ decision: "allow", tool: "x" }, { decision: "deny", tool: "rm_*" }, { decision: "ask" }],
    });
    expect(problems.map(({ path, message }) => [path, message])).toEqual([
      ["/subagentEnabled", '"subagentEnabled" is not a field of this file. Did you mean "subAgentEnabled"?'],
      ["/toolApprovalRequird", expect.stringContaining('"toolApprovalRequired"')],
      ["/autodiscoveryEnabled", expect.stringContaining('"autoDiscoveryEnabled"')],
      ["/aprovalRules", expect.stringContaining('"approvalRules"')],
      ["/mcpServers", expect.stringContaining("ergon servers import FILE")],
    ]);
  });
});

describe("references to the environment", () => {
  const config = {
    id: "web",
    name: "web",
    command: "run",
    args: ["--key", "${KEY}"],
    env: { A: "${env:KEY}", B: "${HOST:-localhost}" },
    enabled: true,
  };

  it("are put in, and what they stand for is a secret", () => {
    const { config: expanded, secrets, problem } = expandServer(config, { KEY: "k-123" });
    expect(expanded).toMatchObject({ args: ["--key", "k-123"], env: { A: "k-123", B: "localhost" } });
    expect(secrets).toContain("k-123");
    expect(problem).toBeUndefined();
  });

  it("shows people names and references, never what may be a key", () => {
    const written: MCPServerConfig = {
      id: "a",
      name: "a",
      command: "x",
      args: ["--api-key", "canary-1", "--token=canary-2", "postgres://me:canary-3@host/db", "/srv/notes"],
      env: { API_KEY: "canary-4", MODE: "canary-5", REF: "${KEY}" },
      enabled: true,
    };
    const { written: shown, secrets, credentials, config: running } = expandServer(written, { KEY: "canary-6" });
    expect(running.args).toEqual(written.args);
    expect(JSON.stringify(shown)).not.toContain("canary");
    expect(shown).toMatchObject({ args: expect.arrayContaining(["/srv/notes"]), env: { REF: "${KEY}" } });
    expect(credentials).toEqual(expect.arrayContaining(["canary-1", "canary-2", "canary-3", "canary-4", "canary-6"]));
    expect(credentials).not.toContain("canary-5");
    expect(secrets).toContain("canary-5");
  });

  it.each([{}, { KEY: "" }])("that the environment does not have are named (%j)", (environment) => {
    expect(expandServer(config, environment).problem).toBe(
      "Its configuration needs ${KEY}, and the environment does not have it.",
    );
  });
});

describe("changing mcp-servers.json", () => {
  it("keeps comments, and fields that it does not know", () => {
    const added = withServer(FILE.replace('"toolApprovalRequired"', '"note": "ours",\n  "toolApprovalRequired"'), {
      id: "new",
      name: "new",
      command: "new",
      enabled: true,
    });
    const changed = withServerField(added, "files", "autoApprove", ["read_*"]);
    const removed = withoutServer(changed, "web");
    expect(removed).toContain("// what we use every day");
    expect(removed).toContain('"note": "ours"');
    expect(readServers(removed)).toMatchObject({
      servers: [{ id: "files", autoApprove: ["read_*"] }, { id: "new" }],
      problems: [{ path: "/note" }],
    });
  });

  it("begins a file that is not there", () => {
    expect(readServers(withServer("", { id: "a", name: "a", command: "a", enabled: true })).servers).toHaveLength(1);
  });

  it("refuses to touch what it cannot read, a server that is there, and one that is not", () => {
    const server = { id: "files", name: "files", command: "x", enabled: true };
    expect(() => withServer("{ broken", server)).toThrow(expect.objectContaining({ code: "server_config_invalid" }));
    expect(() => withServer(FILE, server)).toThrow(expect.objectContaining({ code: "server_duplicate" }));
    expect(() => withoutServer(FILE, "nobody")).toThrow(expect.objectContaining({ code: "server_not_found" }));
  });
});

describe("servers of other hosts", () => {
  it("are taken from Claude's and Cursor's form", () => {
    const { servers, notes } = importServers(
      '{"mcpServers": {"fs": {"command": "npx", "args": ["-y", "fs"], "env": {"A": "1"}}, "web": {"url": "https://x.org", "disabled": true}, "odd": {}}}',
    );
    expect(servers).toEqual([
      { id: "fs", name: "fs", command: "npx", args: ["-y", "fs"], env: { A: "1" }, enabled: true },
      { id: "web", name: "web", url: "https://x.org", enabled: false },
    ]);
    expect(notes).toEqual([expect.stringContaining('"odd" was left out')]);
  });

  it("are taken from VS Code's form, what it asks for as a reference", () => {
    const { servers, notes } = importServers(
      '{"inputs": [{"id": "api-key"}], "servers": {"gh": {"type": "stdio", "command": "gh-mcp", "env": {"TOKEN": "${input:api-key}"}}}}',
    );
    expect(servers[0]?.env).toEqual({ TOKEN: "${API_KEY}" });
    expect(notes).toEqual(['"gh" asks for "api-key": set API_KEY in the environment.']);
  });

  it.each([MAX_IMPORTED, MAX_IMPORTED + 1])("are taken up to a bound, and the rest is named: %i of them", (count) => {
    const named = Array.from({ length: count }, (_, at) => [`s${String(at)}`, { command: "x" }] as const);
    const { servers, notes } = importServers(JSON.stringify({ mcpServers: Object.fromEntries(named) }));
    expect(servers).toHaveLength(MAX_IMPORTED);
    expect(notes).toEqual(count > MAX_IMPORTED ? [expect.stringContaining("1 were left out")] : []);
  });

  it("are taken from Claude's projects, each in its folder, one of each name", () => {
    const { servers, notes } = importServers(
      JSON.stringify({
        mcpServers: { all: { command: "all" } },
        projects: {
          "/x": { mcpServers: { fs: { command: "fs" }, web: { url: "https://x.org" }, all: { command: "other" } } },
          "/y": { mcpServers: { fs: { command: "fs" } }, history: [] },
          "/z": {},
        },
      }),
    );
    expect(servers).toMatchObject([
      { id: "all", command: "all" },
      { id: "fs", command: "fs", cwd: "/x" },
      { id: "web", url: "https://x.org" },
    ]);
    expect(servers[0]).not.toHaveProperty("cwd");
    expect(servers[2]).not.toHaveProperty("cwd");
    expect(notes).toEqual([
      '"all" of /x was left out: there is one in mcpServers already.',
      '"fs" of /y was left out: there is one in /x already.',
    ]);
  });

  it("are taken without what they are allowed or denied there, and that is said", () => {
    const { servers, notes } = importServers(
      '{"mcpServers": {"fs": {"type": "stdio", "command": "fs", "alwaysAllow": ["write"], "disabledTools": ["rm"]}}}',
    );
    expect(servers).toEqual([{ id: "fs", name: "fs", command: "fs", args: [], enabled: true }]);
    expect(notes).toEqual(['"fs" was taken without "alwaysAllow" (here it is "autoApprove"), "disabledTools".']);
  });

  it("are taken without the file that they read variables from, and that is said", () => {
    const { servers, notes } = importServers(
      '{"servers": {"gh": {"command": "gh", "envFile": "${workspaceFolder}/.env"}}}',
    );
    expect(servers).toHaveLength(1);
    expect(notes).toEqual([expect.stringMatching(/"gh" has an envFile.*"env"/)]);
  });

  it.each([
    ["[1]", "no file of MCP servers"],
    ["{}", "neither mcpServers nor servers"],
    ['{"mcpServers": {}}', "There are no MCP servers in it."],
    ['{"projects": {"/x": {}}}', "There are no MCP servers in it."],
    ['{"mcpServers": {\n "a" }}', "2:6: It is not JSON: colon expected."],
    ["", "1:1: It is not JSON: value expected."],
  ])("are not found in %j, and the reason is said", (text, reason) => {
    expect(importServers(text)).toEqual({ servers: [], notes: [expect.stringContaining(reason)] });
  });
});

describe("the file on disk", () => {
  let folder: string;
  let path: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "ergon-servers-"));
    path = join(folder, "mcp-servers.json");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("has no servers when it is not there, and is made for its owner alone", async () => {
    const file = openServersFile(path);
    expect(await file.read()).toEqual({ servers: [], settings: {}, problems: [] });
    await file.change((text) => withServer(text, { id: "a", name: "a", command: "a", enabled: true }));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await file.read()).servers).toHaveLength(1);
  });

  it("cannot be read when it was cut off to nothing, and allows nothing then", async () => {
    await writeFile(path, "");
    const { isUnreadable, settings } = await openServersFile(path).read();
    expect({ isUnreadable, settings }).toMatchObject({ isUnreadable: true, settings: { toolApprovalRequired: true } });
  });

  it("keeps its mode and its link when it is changed", async () => {
    const real = join(folder, "real.json");
    await writeFile(real, FILE);
    await chmod(real, 0o644);
    await symlink(real, path);
    await openServersFile(path).change((text) => withoutServer(text, "web"));
    expect((await stat(real)).mode & 0o777).toBe(0o644);
    expect(readServers(await readFile(real, "utf8")).servers).toHaveLength(1);
  });

  it("takes many changes at once one after the other", async () => {
    const file = openServersFile(path);
    const ids = Array.from({ length: 20 }, (_, index) => `s${String(index)}`);
    const add = (id: string) => file.change((text) => withServer(text, { id, name: id, command: id, enabled: true }));
    await Promise.all(ids.map(add));
    expect((await file.read()).servers.map(({ id }) => id)).toEqual(ids);
  });

  it("tells of what others wrote behind a link, or into a folder that was not there", async () => {
    const real = join(folder, "real", "servers.json");
    await symlink(real, path);
    const file = openServersFile(path);
    expect((await file.read()).servers).toEqual([]);
    const told: ServersFile[] = [];
    const stop = file.onChange((changed) => told.push(changed));
    await mkdir(join(folder, "real"));
    await writeFile(real, FILE);
    await vi.waitFor(() => expect(told.at(-1)?.servers).toHaveLength(2), PATIENCE);
    await writeFile(real, withoutServer(FILE, "web"));
    await vi.waitFor(() => expect(told.at(-1)?.servers).toHaveLength(1), PATIENCE);
    stop();
  }, 30_000);

  it("tells of what others wrote, and not of what it wrote itself", async () => {
    await writeFile(path, FILE);
    const file = openServersFile(path);
    await file.read();
    const told: ServersFile[] = [];
    const stop = file.onChange((changed) => told.push(changed));
    await file.change((text) => withServerField(text, "files", "enabled", false));
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(told).toEqual([]);
    await writeFile(path, withoutServer(await readFile(path, "utf8"), "web"));
    await vi.waitFor(() => expect(told.at(-1)?.servers.map(({ id }) => id)).toEqual(["files"]), PATIENCE);
    stop();
  });
});
