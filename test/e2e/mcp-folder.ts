// A data folder of a test that MCP clients come to, over a pipe or over HTTP.
import { join } from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "./ergon.ts";
import { type Answerer, CLIENTS, type Connected, type Target } from "./mcp-clients.ts";
import { type OwnFolder, ownFolder } from "./own-folder.ts";
import { leaveNothingOn } from "./processes.ts";
import { serveFolder, type ServedFolder, type ServeOptions } from "./served.ts";

type ClientName = keyof typeof CLIENTS;
type HowServed = Omit<ServeOptions, "cwd">;

export type McpFolder = {
  readonly folder: OwnFolder;
  readonly data: () => string;
  /** Serves the folder, once. */
  readonly serve: (options?: HowServed) => Promise<ServedFolder>;
  /** Ends what is served. */
  readonly stop: (signal: NodeJS.Signals) => Promise<void>;
  readonly http: (options?: HowServed) => Promise<Target>;
  readonly stdio: (...args: readonly string[]) => Target;
  /** Closed after the test. */
  readonly connect: (name: ClientName, target: Target, answer?: Answerer) => Promise<Connected>;
};

/** Makes one for each test of the suite that calls it, and leaves nothing of it behind. */
export function mcpFolder(): McpFolder {
  const folder = ownFolder();
  const open: Connected[] = [];
  let server: ServedFolder | undefined;
  const data = () => join(folder.path, "data");
  const stop: McpFolder["stop"] = async (signal) => {
    await server?.stop(signal);
    server = undefined;
  };
  afterEach(async () => {
    for (const client of open.splice(0)) await client.close();
    await stop("SIGTERM");
  });
  const serve: McpFolder["serve"] = async (options = {}) => {
    server ??= await serveFolder(data(), { cwd: folder.path, ...options });
    return server;
  };
  return {
    folder,
    data,
    serve,
    stop,
    http: async (options) => {
      const { url, token } = await serve(options);
      return { kind: "http", url, token };
    },
    stdio: (...args) => ({ kind: "stdio", data: data(), args, cwd: folder.path }),
    connect: async (name, target, answer) => {
      const client = await CLIENTS[name](target, answer);
      open.push(client);
      return client;
    },
  };
}

/**
 * One server for all tests of the suite that calls it, for those that begin and end as anybody's first: whoever asks for
 * it comes as a principal of their own, who sees nothing of the others.
 */
export function sharedServer(): () => Promise<Target> {
  let folder: ReturnType<typeof temporaryFolder>;
  let server: ServedFolder;
  let principals = 0;
  beforeAll(async () => {
    folder = temporaryFolder();
    server = await serveFolder(join(folder.path, "data"), { cwd: folder.path });
  }, 60_000);
  afterAll(async () => {
    await server.stop("SIGTERM");
    try {
      leaveNothingOn(folder.path);
    } finally {
      folder.remove();
    }
  }, 60_000);
  return async () => {
    const response = await fetch(new URL("/tokens", server.url), {
      method: "POST",
      headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: `principal-${String((principals += 1))}` }),
    });
    const { token } = z.object({ token: z.string() }).parse(await response.json());
    return { kind: "http", url: server.url, token };
  };
}

export const CLIENT_NAMES = Object.keys(CLIENTS) as readonly ClientName[];

/** Every official client over every door. */
export const EVERY_WAY = CLIENT_NAMES.flatMap((client) => [[client, "stdio"] as const, [client, "HTTP"] as const]);
