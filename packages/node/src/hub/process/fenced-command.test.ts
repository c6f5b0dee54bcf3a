import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@ergon/core";
import type { McpConnection } from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findFence } from "../../sandbox/fence.ts";
import { lookForFence } from "../../sandbox/profiles.ts";
import { createMcpConnector } from "../connection/connector.ts";
import { fencedCommand, type ServerAccess } from "./fenced-command.ts";

vi.setConfig({ testTimeout: 60_000 });
const fence = await lookForFence(findFence);
const here = join(import.meta.dirname, "..");
const closing: (() => unknown)[] = [];
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-access-"));
  for (const name of ["readable", "writable", "other"]) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "note"), `of ${name}`);
  }
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true, force: true });
});

// Where no fence can be had, what is limited does not start, which is shown below; there is nothing to probe then.
describe.each("fence" in fence ? ["bubblewrap"] : [])("a server with limited access (%s)", () => {
  it("reads and writes what it may, and nothing else", async () => {
    const connection = await opened({ read: [at("readable")], write: [at("writable")] });
    expect(await probe(connection, "read", { path: at("readable/note") })).toBe("of readable");
    expect(await probe(connection, "write", { path: at("writable/made") })).toBe("done");
    expect(readFileSync(at("writable/made"), "utf8")).toBe("written");
    for (const [name, path] of [
      ["write", at("readable/note")],
      ["read", at("other/note")],
      ["write", at("other/made")],
      ["read", "/etc/shadow"],
      ["read", join(homedir(), ".profile")],
      ["read", `/proc/${String(process.pid)}/environ`],
    ] as const) {
      expect(await probe(connection, name, { path }), `${name} ${path}`).toMatch(/ENOENT|EACCES|EROFS|EPERM/);
    }
    expect(existsSync(at("other/made"))).toBe(false);
    expect(readFileSync(at("readable/note"), "utf8")).toBe("of readable");
  });

  it("does not get out of a folder by a link in it", async () => {
    symlinkSync(at("other"), at("readable/link"));
    const connection = await opened({ read: [at("readable")] });
    expect(await probe(connection, "read", { path: at("readable/link/note") })).toMatch(/ENOENT/);
  });

  it.each([
    [true, "reached"],
    [false, /ECONNREFUSED|ENETUNREACH/],
    [undefined, /ECONNREFUSED|ENETUNREACH/],
  ])("reaches the network when it may: %s", async (network, outcome) => {
    const server = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const connection = await opened(network === undefined ? {} : { network });
    expect(await probe(connection, "reach", { port })).toMatch(outcome);
  });

  it("ends with everything that it is", async () => {
    const connection = await opened({});
    expect(processesOf(folder)).not.toEqual([]);
    await connection.stop();
    expect(processesOf(folder)).toEqual([]);
  });

  it.each([
    ["a folder that is not there", { read: ["/no/such/folder"] }, {}, /names \/no\/such\/folder, which is not there/],
    ["a place to work that it may not see", {}, { cwd: "/etc" }, /"cwd" \/etc is in none of the folders/],
  ])("is refused %s", async (_, access, more, why) => {
    const connection = await opened(access, more);
    expect(connection.report()).toMatchObject({ state: "down", errors: [expect.stringMatching(why)] });
  });
});

describe("limited access", () => {
  it("is refused where it cannot be kept, and nothing is started", async () => {
    const server = { command: "node", args: [], env: {} };
    const look = () => Promise.resolve({ missing: "it needs bubblewrap." });
    const starting = fencedCommand(server, {}, { own: [], look });
    await expect(starting).rejects.toMatchObject({
      code: "server_down",
      message: expect.stringMatching(/it needs bubblewrap.*It was not started/),
    });
  });
});

function processesOf(mark: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(mark);
    } catch {
      return false;
    }
  });
}

function at(path: string): string {
  return join(folder, path);
}

async function opened(access: ServerAccess, more: { readonly cwd?: string } = {}): Promise<McpConnection> {
  const connector = createMcpConnector({ logger: silentLogger });
  const file = join(here, "hostile-server.fixture.ts");
  const connection = connector.open({
    config: {
      id: "fenced",
      name: "fenced",
      command: process.execPath,
      args: [file, "probes", folder],
      access: { ...access, read: [here, ...(access.read ?? [])] },
      enabled: true,
      ...more,
    },
    secrets: [],
    onChange: () => undefined,
  });
  closing.push(connection.stop);
  connection.start();
  await connection.settled();
  return connection;
}

async function probe(connection: McpConnection, name: string, args: Record<string, unknown>): Promise<string> {
  expect(connection.report()).toMatchObject({ state: "ready" });
  const { content } = await connection.call({ name, args });
  return content[0]?.text ?? "";
}
