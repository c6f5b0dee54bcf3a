import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type AuthorizationServer,
  type GuardedServer,
  startAuthorizationServer,
  startGuardedServer,
} from "../../packages/node/src/hub/auth/authorization-server.fixture.ts";
import { ergon, finish, start, temporaryFolder } from "./ergon.ts";

let folder: ReturnType<typeof temporaryFolder>;
let as: AuthorizationServer;
let server: GuardedServer;

beforeEach(async () => {
  folder = temporaryFolder();
  as = await startAuthorizationServer();
  server = await startGuardedServer(as);
  const servers = [
    { id: "web", url: server.url },
    { id: "local", command: "node" },
  ];
  folder.write({ "mcp-servers.json": JSON.stringify({ servers }) });
});
afterEach(() => {
  server.close();
  as.close();
  folder.remove();
});

const at = () => ({ cwd: folder.path, env: { MCP_CONFIG_PATH: join(folder.path, "mcp-servers.json") } });

describe("ergon servers login", { timeout: 120_000 }, () => {
  it("prints where to log in, waits for the browser, and the server's tools can be called from then on", async () => {
    const before = await ergon(["servers", "test", "web", "--json"], at());
    expect(before.code).toBe(1);
    expect(before.out).toContain("ergon servers login web");

    const child = start(["servers", "login", "web", "--json"], at());
    const answering = finish(child);
    expect((await fetch(await printedAddress(child))).status).toBe(200);
    const { out, code } = await answering;
    expect(code, out).toBe(0);
    expect(JSON.parse(out.trim().split("\n").at(-1) ?? "")).toMatchObject({ ok: true, tools: ["add", "write"] });

    const called = await ergon(["tools", "call", "web_add", "--args", '{"a":1,"b":2}', "--json"], at());
    expect(JSON.parse(called.out)).toMatchObject({ output: "3" });
    const [file = ""] = readdirSync(join(folder.path, ".ergon/logins"));
    const path = join(folder.path, ".ergon/logins", file);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const { access_token: token } = (JSON.parse(readFileSync(path, "utf8")) as { tokens: Record<string, string> })
      .tokens;
    expect(`${out}${called.out}${called.err}`).not.toContain(token);

    const out2 = await ergon(["servers", "logout", "web", "--json"], at());
    expect(JSON.parse(out2.out)).toEqual({ server: "web", removed: true });
    expect((await ergon(["servers", "test", "web"], at())).code).toBe(1);
  });

  it("cleans up at Ctrl-C and leaves nothing behind", async () => {
    const child = start(["servers", "login", "web", "--json"], at());
    const answering = finish(child);
    const address = await printedAddress(child);
    child.kill("SIGINT");
    expect((await answering).code).toBe(130);
    const back = new URL(address).searchParams.get("redirect_uri") ?? "";
    await expect(fetch(back)).rejects.toThrow("fetch failed");
  });

  it.each([
    ["nobody", 1, "has no server"],
    ["local", 2, "logins are for servers with a url"],
  ])("refuses %s", async (id, code, message) => {
    const answer = await ergon(["servers", "login", id], at());
    expect(answer).toMatchObject({ code, err: expect.stringContaining(message) });
  });
});

async function printedAddress(child: ReturnType<typeof start>): Promise<string> {
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return (JSON.parse(line) as { readonly authorizationUrl: string }).authorizationUrl;
}
