/*
 * A registry of MCP servers and a registry of npm packages, both on loopback, with what a test puts into them.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const DAY_MS = 86_400_000;

export type Registries = {
  readonly url: string;
  /** Names that were asked for, of packages and of servers. */
  readonly asked: string[];
  readonly addServer: (server: Readonly<Record<string, unknown>>, status?: string) => void;
  readonly addPackage: (wish: PackageWish) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type PackageWish = {
  readonly name: string;
  readonly version: string;
  readonly mcpName?: string;
  readonly ageDays?: number;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly program?: string;
  readonly readme?: string;
  /** What the registry says of the tarball at first; later the truth. */
  readonly falseIntegrity?: boolean;
  readonly hasNoIntegrity?: boolean;
  /** Where the registry says the tarball is; at the registry by default. */
  readonly tarball?: string;
};

export async function startRegistries(): Promise<Registries> {
  const folder = await mkdtemp(join(tmpdir(), "registries-"));
  const servers = new Map<string, unknown>();
  const packages = new Map<
    string,
    { readonly versions?: object; readonly time?: object; readonly [more: string]: unknown }
  >();
  const tarballs = new Map<string, Buffer>();
  const asked: string[] = [];

  const http = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname);
    const answer = (body: unknown, status = 200): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    const [, name = ""] = /^\/v0\.1\/servers\/(.+)\/versions\/[^/]+$/.exec(path) ?? [];
    if (path === "/v0.1/servers") return answer({ servers: [...servers.values()], metadata: {} });
    asked.push(path);
    if (name !== "") return servers.has(name) ? answer(servers.get(name)) : answer({}, 404);
    const tarball = tarballs.get(path);
    if (tarball !== undefined) return void response.writeHead(200).end(tarball);
    const found = packages.get(path.slice(1));
    return found === undefined ? answer({ error: "not found" }, 404) : answer(found);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((http.address() as AddressInfo).port)}`;

  return {
    url,
    asked,
    addServer: (server, status = "active") => {
      const _meta = { "io.modelcontextprotocol.registry/official": { status, publishedAt: "2026-01-01T00:00:00Z" } };
      servers.set(String(server["name"]), { server, _meta });
    },
    addPackage: async ({
      name,
      version,
      mcpName,
      ageDays = 30,
      scripts = {},
      dependencies = {},
      program = NOTES_SERVER,
      readme = "",
      falseIntegrity,
      hasNoIntegrity = false,
      tarball = `${url}/tarballs/${name}-${version}.tgz`,
    }) => {
      const home = join(folder, encodeURIComponent(`${name}@${version}`), "package");
      await mkdir(home, { recursive: true });
      const manifest = {
        name,
        version,
        type: "module",
        bin: "index.js",
        scripts,
        dependencies,
        ...(mcpName === undefined ? {} : { mcpName }),
      };
      await writeFile(join(home, "package.json"), JSON.stringify(manifest));
      await writeFile(join(home, "index.js"), program);
      const file = join(folder, `${encodeURIComponent(`${name}@${version}`)}.tgz`);
      await run("tar", ["-czf", file, "-C", join(home, ".."), "package"]);
      const bytes = await readFile(file);
      const path = `/tarballs/${name}-${version}.tgz`;
      tarballs.set(path, bytes);
      const of = falseIntegrity === true ? Buffer.from("something else") : bytes;
      const integrity = `sha512-${createHash("sha512").update(of).digest("base64")}`;
      const dist = { ...(hasNoIntegrity ? {} : { integrity }), tarball };
      const { versions = {}, time = {} } = packages.get(name) ?? {};
      packages.set(name, {
        name,
        "dist-tags": { latest: version },
        readme,
        versions: { ...versions, [version]: { ...manifest, readme, dist } },
        time: { ...time, [version]: new Date(Date.now() - ageDays * DAY_MS).toISOString() },
      });
    },
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A server over pipes in a few lines, without dependencies. */
export const NOTES_SERVER = `
import { createInterface } from "node:readline";
const tools = [{ name: "list_notes", description: "Lists notes.", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }];
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const say = (result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
  if (method === "initialize") return say({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1.0.0" } });
  if (method === "tools/list") return say({ tools });
  if (method === "tools/call") return say({ content: [{ type: "text", text: "none yet" }] });
  if (method === "ping") return say({});
  console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } }));
});
`;
