import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MCPServerConfig } from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { allowedServersPath, MAX_ALLOWED_SERVERS, openAllowedServers } from "./allowed-servers.ts";

const AT = "2026-11-16T00:00:00.000Z";
const server: MCPServerConfig = { id: "a", name: "a", command: "node", args: ["x"], env: { KEY: "1" }, enabled: true };

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ergon-allowed-"));
  path = join(folder, "deep", "allowed.json");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("servers that a person approved", () => {
  it("are remembered for their user alone", async () => {
    expect(await openAllowedServers(path).has("/f", server)).toBe(false);
    await openAllowedServers(path).allow("/f", server, AT);
    expect(await openAllowedServers(path).has("/f", server)).toBe(true);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each<[string, Partial<MCPServerConfig>]>([
    ["another command", { command: "sh" }],
    ["another argument", { args: ["y"] }],
    ["another name in env", { env: { KEY: "1", NODE_OPTIONS: "--import x" } }],
    ["another value in env", { env: { KEY: "2" } }],
    ["another reference in env", { env: { KEY: "${SECRET}" } }],
    ["another value in headers", { headers: { Authorization: "Bearer ${SECRET}" } }],
    ["another secret for its login", { oauth: { clientSecret: "${SECRET}" } }],
    ["all of its tools allowed", { autoApprove: true }],
    ["some of its tools allowed", { autoApprove: ["read_*"] }],
    ["what it says believed", { trusted: true }],
    ["another address", { url: "https://example.org" }],
    ["another folder", { cwd: "/tmp" }],
    ["more access", { access: { write: ["/"] } }],
  ])("are asked about again with %s", async (_, change) => {
    const allowed = openAllowedServers(path);
    await allowed.allow("/f", server, AT);
    expect(await allowed.has("/f", { ...server, ...change })).toBe(false);
  });

  it("stay approved when only a name for people, a time limit or whether they are switched on changes", async () => {
    const allowed = openAllowedServers(path);
    await allowed.allow("/f", server, AT);
    expect(await allowed.has("/f", { ...server, name: "b", timeoutMs: 5, enabled: false })).toBe(true);
  });

  it("are kept as hashes: no value of theirs is in the file", async () => {
    const env = { KEY: "canary-1" };
    await openAllowedServers(path).allow("/f", { ...server, env, headers: { A: "canary-2" } }, AT);
    expect(await readFile(path, "utf8")).not.toContain("canary");
  });

  it("are those of one file: the same server elsewhere is another", async () => {
    const allowed = openAllowedServers(path);
    await allowed.allow("/f", server, AT);
    expect(await allowed.has("/g", server)).toBe(false);
  });

  it("are forgotten, the oldest first, past the limit", async () => {
    const allowed = openAllowedServers(path);
    await allowed.allow("/f", server, AT);
    const many = Array.from({ length: MAX_ALLOWED_SERVERS - 1 }, (_, n) => ({
      hash: String(n),
      file: "",
      serverId: "",
      at: AT,
    }));
    const kept = JSON.parse(await readFile(path, "utf8")) as { allowed: object[] };
    await writeFile(path, JSON.stringify({ allowed: [...kept.allowed, ...many] }));
    expect(await allowed.has("/f", server)).toBe(true);
    await allowed.allow("/f", { ...server, id: "b" }, AT);
    expect(await allowed.has("/f", server)).toBe(false);
  });

  it("are never guessed from a file that cannot be read", async () => {
    await openAllowedServers(path).allow("/f", server, AT);
    await writeFile(path, "{");
    await expect(openAllowedServers(path).has("/f", server)).rejects.toMatchObject({ code: "server_config_invalid" });
  });

  it("lie in the user's state folder", () => {
    expect(allowedServersPath({ XDG_STATE_HOME: "/s" })).toBe("/s/ergon/allowed-servers.json");
    expect(allowedServersPath({ XDG_STATE_HOME: "" })).toMatch(/\.local\/state\/ergon\/allowed-servers\.json$/);
  });
});
