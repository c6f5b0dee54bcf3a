/* A hostile server behind a fence tries to reach what is Ergon's own. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { silentLogger } from "@ergon/core";
import type { McpConnection, MCPServerConfig } from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findFence } from "../../sandbox/fence.ts";
import { lookForFence } from "../../sandbox/profiles.ts";
import { createMcpConnector } from "../connection/connector.ts";
import { fencedCommand, ownInAccess, type ServerAccess } from "./fenced-command.ts";

vi.setConfig({ testTimeout: 60_000 });
const fence = await lookForFence(findFence);
const closing: (() => unknown)[] = [];
let project: string;

/** The project folder as it is after a start: DATA, the configuration, and the user's state folder in one place. */
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "ergon-own-")));
  for (const folder of [".ergon/servers/notes", "state/ergon", "src", "node_modules/server", "bin"])
    mkdirSync(at(folder), { recursive: true });
  for (const file of [".ergon/server.json", "mcp-servers.json", "state/ergon/tokens.json", ".ergon/servers/notes/a"])
    writeFileSync(at(file), "the key");
  for (const file of ["README.md", "src/code.ts", "state/other"]) writeFileSync(at(file), "of the project");
  for (const file of ["server.ts", "src/server.ts"])
    copyFileSync(join(import.meta.dirname, "../hostile-server.fixture.ts"), at(file));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(project, { recursive: true, force: true });
});

const at = (path: string): string => join(project, path);
const own = (): readonly string[] => [at(".ergon"), at("mcp-servers.json"), at("state/ergon")];
const HIDDEN = /ENOENT|EACCES|EROFS|EPERM|ENXIO/;
const KEYS = [".ergon/server.json", "mcp-servers.json", "state/ergon/tokens.json"];

async function opened(config: Partial<MCPServerConfig>, mine = own()): Promise<McpConnection> {
  const connection = createMcpConnector({ logger: silentLogger, fence: { own: mine } }).open({
    config: { id: "fenced", name: "fenced", command: process.execPath, enabled: true, ...config },
    secrets: [],
    onChange: () => undefined,
  });
  closing.push(connection.stop);
  connection.start();
  await connection.settled();
  expect(connection.report()).toMatchObject({ state: "ready", errors: [] });
  return connection;
}

async function probe(connection: McpConnection, name: string, path: string): Promise<string> {
  const { content } = await connection.call({ name, args: { path } });
  return content[0]?.text ?? "";
}

// Where no fence can be had, what is limited does not start, which fenced-command.test.ts shows.
describe.each("fence" in fence ? ["bubblewrap"] : [])("what is Ergon's own, behind %s", () => {
  it.each([
    ["that may read the project", () => ({ args: [at("server.ts"), "probes"], access: { read: [project] } })],
    ["that may write the project", () => ({ args: [at("server.ts"), "probes"], access: { write: [project] } })],
    [
      "that may write the project and use the network",
      () => ({ args: [at("server.ts"), "probes"], access: { write: [project], network: true } }),
    ],
    [
      "that may read and write, above and below",
      () => ({ args: [at("server.ts"), "probes"], access: { read: ["/"], write: [project] } }),
    ],
    [
      "that reaches the project by a link",
      () => {
        symlinkSync(project, at("src/around"));
        return { args: [at("server.ts"), "probes"], access: { write: [at("src/around")] } };
      },
    ],
    [
      "that works in the project",
      () => ({ args: ["server.ts", "probes"], cwd: project, access: { write: [project] } }),
    ],
  ])("is hidden from a server %s, and the project is not", async (_, given) => {
    const config = given();
    const connection = await opened(config);
    const { write = [], read = [] } = config.access as NonNullable<MCPServerConfig["access"]>;
    for (const root of [...write, ...read.map(() => project)])
      for (const key of KEYS) {
        expect(await probe(connection, "read", join(root, key)), `read ${root}/${key}`).toMatch(HIDDEN);
        expect(await probe(connection, "write", join(root, key)), `write ${root}/${key}`).toMatch(HIDDEN);
      }
    const [root = project] = write;
    expect(await probe(connection, "write", join(root, ".ergon/subagent.db"))).toMatch(HIDDEN);
    for (const key of KEYS) expect(readFileSync(at(key), "utf8")).toBe("the key");
    expect(existsSync(at(".ergon/subagent.db"))).toBe(false);
    expect(await probe(connection, "read", join(root, "README.md"))).toBe("of the project");
  });

  it.each([
    ["in the project's root", "server.ts"],
    ["in a folder of the project", "src/server.ts"],
  ])("is hidden, with everything else of the project, from a program %s", async (_, file) => {
    const connection = await opened({ args: [at(file), "probes"], access: { network: true } });
    for (const path of [...KEYS, "README.md", "src/code.ts", "state/other"])
      expect(await probe(connection, "read", at(path)), path).toMatch(HIDDEN);
  });

  it("is hidden, with everything else, from a program in the home folder", async () => {
    vi.stubEnv("HOME", project);
    closing.push(() => vi.unstubAllEnvs());
    const script = at("server");
    writeFileSync(script, `#!${process.execPath}\n${readFileSync(at("server.ts"), "utf8")}`);
    chmodSync(script, 0o755);
    renameSync(script, at("bin/server.ts"));
    // The home folder's own bin holds programs and is shown; a home folder that is called bin is not.
    const connection = await opened({ command: at("bin/server.ts"), args: ["probes"], access: { network: true } });
    for (const path of [...KEYS, "README.md"]) expect(await probe(connection, "read", at(path)), path).toMatch(HIDDEN);
    vi.stubEnv("HOME", at("bin"));
    writeFileSync(at("bin/secret"), "of the user");
    const second = await opened({ command: at("bin/server.ts"), args: ["probes"], access: {} });
    expect(await probe(second, "read", at("bin/secret"))).toMatch(HIDDEN);
  });

  it("leaves a package its modules, and nothing beside them", async () => {
    writeFileSync(at("node_modules/other"), "a module");
    const program = at("node_modules/server/index.mjs");
    writeFileSync(program, stripTypeScriptTypes(readFileSync(at("server.ts"), "utf8")));
    const connection = await opened({ args: [program, "probes"], access: {} });
    expect(await probe(connection, "read", at("node_modules/other"))).toBe("a module");
    for (const path of [...KEYS, "README.md"]) expect(await probe(connection, "read", at(path)), path).toMatch(HIDDEN);
  });

  it("leaves an installed server its own folder to read, and no other of DATA", async () => {
    const connection = await opened({
      args: [at("server.ts"), "probes"],
      access: { read: [project, at(".ergon/servers/notes")] },
    });
    expect(await probe(connection, "read", at(".ergon/servers/notes/a"))).toBe("the key");
    expect(await probe(connection, "write", at(".ergon/servers/notes/a"))).toMatch(HIDDEN);
    expect(await probe(connection, "read", at(".ergon/server.json"))).toMatch(HIDDEN);
  });

  it("stays hidden when the configuration is replaced: the server is ended, and its next start hides the new one", async () => {
    const connection = await opened({ args: [at("server.ts"), "probes"], access: { write: [project] } });
    writeFileSync(at("next.json"), "a new key");
    renameSync(at("next.json"), at("mcp-servers.json"));
    await vi.waitFor(() => expect(connection.report().state).not.toBe("ready"));
    await vi.waitFor(() => expect(connection.report().state).toBe("ready"), { timeout: 30_000 });
    expect(await probe(connection, "read", at("mcp-servers.json"))).toMatch(HIDDEN);
  });

  it("stays where it is: the folders around it cannot be moved away to put others in their place", async () => {
    for (const folder of ["var/lib/data", "conf"]) mkdirSync(at(folder), { recursive: true });
    writeFileSync(at("conf/mcp.json"), "the key");
    const mine = [at("var/lib/data"), at("conf/mcp.json")];
    const connection = await opened({ args: [at("server.ts"), "probes"], access: { write: [project] } }, mine);
    for (const path of ["var", "var/lib", "var/lib/data", "conf", "conf/mcp.json"])
      expect(await probe(connection, "move", at(path)), path).toContain("EBUSY");
    expect(await probe(connection, "write", at("var/lib/notes"))).not.toMatch(HIDDEN);
    expect(await probe(connection, "move", at("src"))).not.toContain("EBUSY");
  });

  it("is seen for no grace period by a server that does not go when a mask fell off", async () => {
    await opened({ args: [at("server.ts"), "lingers", at("beat-")], access: { write: [project] } });
    const beats = () => readdirSync(project).filter((name) => name.startsWith("beat-"));
    await vi.waitFor(() => expect(beats()).toHaveLength(1));
    const [beat = ""] = beats();
    writeFileSync(at("next.json"), "a new key");
    renameSync(at("next.json"), at("mcp-servers.json"));
    const replacedAt = Date.now();
    await sleep(2_000);
    expect(statSync(at(beat)).mtimeMs).toBeLessThan(replacedAt + 1_000);
  });

  it.each([
    ["a folder of DATA", () => (mkdirSync(at(".ergon/logins")), { read: [at(".ergon/logins")] })],
    ["an installed server's folder to write in", () => ({ write: [at(".ergon/servers/notes")] })],
    [
      "another name of the configuration",
      () => (linkSync(at("mcp-servers.json"), at("src/linked.json")), { read: [at("src/linked.json")] }),
    ],
  ])("is refused when access names %s", async (_, given) => {
    const access: ServerAccess = given();
    const starting = fencedCommand({ command: process.execPath, args: [], env: {} }, access, { own: own() });
    await expect(starting).rejects.toMatchObject({
      code: "server_down",
      message: expect.stringContaining("Ergon's own") as string,
    });
  });
});

it("what access shows of Ergon's own is told", () => {
  expect(ownInAccess({ access: { write: [project] } }, own())).toEqual(own());
  expect(ownInAccess({ access: { read: ["state"] }, cwd: project }, own())).toEqual([at("state/ergon")]);
  expect(ownInAccess({ access: { read: [at("src"), at("gone")] } }, own())).toEqual([]);
  expect(ownInAccess({}, own())).toEqual([]);
});
