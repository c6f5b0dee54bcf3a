import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type Answer, ergon, finish, start } from "./ergon.ts";
import { ownFolder } from "./own-folder.ts";
import { firstToken } from "./owner-access.ts";

const LEAKY = join(import.meta.dirname, "leaky-server.fixture.ts");
const canary = (n: number) => `cnry${String(n).padStart(2, "0")}-8f3kq7"w\\z`;
const plain = (n: number) => `cnry${String(n).padStart(2, "0")}-8f3kq7wz`;

const folder = ownFolder();

/** Ten in the environment, ten in headers, ten on command lines; the servers say them in every answer, error and line. */
function servers(httpUrl: string): object[] {
  const env = {
    API_KEY: canary(1),
    SERVICE_TOKEN: "${CANARY_2}",
    DB_PASSWORD: canary(3),
    CLIENT_SECRET: canary(4),
    DATABASE_URL: `postgres://me:${plain(5)}@localhost/db`,
    SIGNING_KEY: `-----BEGIN KEY-----\n${canary(6)}\n-----END KEY-----\n`,
    GITHUB_PAT: canary(7),
    AWS_SECRET_ACCESS_KEY: canary(8),
    PASSPHRASE: canary(9),
    ANYTHING: "${SOME_TOKEN}",
  };
  const headers = {
    Authorization: `Bearer ${plain(11)}`,
    "X-Api-Key": plain(12),
    Cookie: plain(13),
    "X-Auth-Token": "${CANARY_14}",
    "X-Secret": plain(15),
    "Proxy-Authorization": `Basic ${plain(16)}`,
    "X-Access-Key": plain(17),
    "X-Password": plain(18),
    "X-Credential": plain(19),
    "X-Session-Token": plain(20),
  };
  const args = [
    "--api-key",
    canary(21),
    `--token=${canary(22)}`,
    "--password",
    canary(23),
    `--client-secret=${canary(24)}`,
    `https://me:${plain(25)}@example.org/x`,
    `https://example.org/?api_key=${plain(26)}`,
    "--auth",
    canary(27),
    "--access-key",
    canary(28),
    "--credential",
    canary(29),
    "${CANARY_30_TOKEN}",
  ];
  const leaky = { command: process.execPath, args: [LEAKY, folder.path, ...args], env };
  return [
    { id: "pipe", ...leaky },
    { id: "failing", ...leaky, args: [LEAKY, "--fails", folder.path, ...args] },
    { id: "web", url: httpUrl, headers },
  ];
}
const environment = { CANARY_2: canary(2), SOME_TOKEN: canary(10), CANARY_14: plain(14), CANARY_30_TOKEN: canary(30) };

describe("secrets of servers' configurations", { timeout: 240_000 }, () => {
  it("are in no log, no file of the data folder, no event, no HTTP answer and no output of a command", async () => {
    const web = spawn(process.execPath, [LEAKY, "--http", folder.path], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [port] = (await once(web.stdout, "data")) as [Buffer];
      const config = join(folder.path, "mcp-servers.json");
      writeFileSync(config, JSON.stringify({ servers: servers(`http://127.0.0.1:${String(port).trim()}/mcp`) }));
      const seen = await everythingSaid(config);
      expect(seen.length).toBeGreaterThan(20);
      expect(seen.join("\n")).toContain("[hidden]");
      const found = seen.flatMap((text) => [...text.matchAll(/.{0,60}cnry\d\d.{0,20}/gs)].map(([where]) => where));
      expect(found.slice(0, 10)).toEqual([]);
    } finally {
      const gone = once(web, "exit");
      web.kill();
      await gone;
    }
  });

  async function everythingSaid(config: string): Promise<string[]> {
    const data = join(folder.path, "data");
    const env = {
      ...environment,
      XDG_STATE_HOME: join(folder.path, "state"),
      MCP_CONFIG_PATH: config,
      ERGON_LOG: "trace",
      MCP_TOOL_APPROVAL: "false",
    };
    const seen: string[] = [];
    const keep = ({ out, err }: Answer) => void seen.push(out, err);
    const port = await freePort();
    const child = start(["serve", "--port", String(port), "--data", data, "--gateway"], { cwd: folder.path, env });
    const ended = finish(child);
    const url = `http://127.0.0.1:${String(port)}`;
    await untilServed(url);
    const token = firstToken(data, env);
    const ask = async (method: string, path: string, body?: unknown): Promise<string> => {
      const response = await fetch(new URL(path, url), {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", prefer: "wait=10" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      seen.push(text);
      return text;
    };
    expect(await ask("GET", "/tools")).toContain('"web_tell"');
    expect(await ask("GET", "/tools")).toContain('"pipe_tell"');
    for (const server of ["pipe", "web"]) {
      for (const tool of ["tell", "shape", "fail", "refuse"]) await ask("POST", `/tools/${server}_${tool}/call`, {});
    }
    await ask("POST", "/tools/pipe_crash/call", {});
    for (const path of ["/servers", "/stats", "/metrics", "/sessions", "/capabilities"]) await ask("GET", path);
    const { items } = JSON.parse(await ask("GET", "/sessions?limit=50")) as { items: { sessionId: string }[] };
    for (const { sessionId } of items) await ask("GET", `/sessions/${sessionId}/trace`);
    for (const id of ["pipe", "failing", "web"]) await ask("POST", `/servers/${id}/test`, {});
    seen.push(await eventsSoFar(url, token));
    const run = (...args: readonly string[]) => ergon([...args, "--data", data], { cwd: folder.path, env });
    keep(await run("servers"));
    keep(await run("servers", "list", "--json"));
    keep(await run("servers", "test", "failing"));
    keep(await run("servers", "stats", "--json"));
    keep(await run("tools", "show", "pipe_tell"));
    keep(await run("tools", "call", "pipe_tell"));
    keep(await run("tools", "call", "web_fail"));
    keep(await run("doctor"));
    child.kill("SIGTERM");
    keep(await ended);
    for (const file of globSync("**/*", { cwd: data, withFileTypes: true })) {
      if (file.isFile()) seen.push(readFileSync(join(file.parentPath, file.name), "latin1"));
    }
    return seen;
  }
});

async function eventsSoFar(url: string, token: string): Promise<string> {
  const stop = AbortSignal.timeout(3_000);
  const response = await fetch(new URL("/events", url), {
    headers: { authorization: `Bearer ${token}`, "last-event-id": "0" },
    signal: stop,
  });
  let text = "";
  try {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk;
  } catch {
    // Events go on for ever; what came in this time is all that there was.
  }
  expect(text).toContain("server-changed");
  return text;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

async function untilServed(url: string): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if ((await fetch(new URL("/readyz", url)).catch(() => undefined))?.ok === true) return;
    await sleep(50);
  }
  throw new Error("It is not served.");
}
