import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { authorizationFetch, MAX_ANSWER_BYTES } from "./authorization-fetch.ts";

const open: Server[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close().closeAllConnections();
});

describe("what is asked on behalf of a login", () => {
  it.each([
    "https://10.0.0.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://127.0.0.1/",
    "https://0x7f.1/",
    "https://0177.0.0.1/",
    "https://2130706433/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::1]/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://192.168.1.1/",
    "https://100.64.0.1/",
    "https://internal.example/",
    "http://login.example/",
    "http://127.0.0.1/",
    "file:///etc/passwd",
  ])("is not %s, when a server out in the world names it (A1, A2)", async (address) => {
    const ask = authorizationFetch({
      serverUrl: "https://mcp.example/mcp",
      resolve: (host) => {
        const known: Record<string, string> = { "mcp.example": "93.184.216.34", "internal.example": "10.1.2.3" };
        return Promise.resolve([known[host] ?? host]);
      },
    });
    await expect(ask(address)).rejects.toMatchObject({ code: "address_refused" });
  });

  it("may be on this machine, when the server is", async () => {
    const origin = await served((_, response) => response.end("{}"));
    const answer = await authorizationFetch({ serverUrl: "http://localhost:1/mcp" })(`${origin}/metadata`);
    expect(await answer.json()).toEqual({});
  });

  it("is not followed elsewhere (A3)", async () => {
    const origin = await served((_, response) => response.writeHead(302, { location: "http://10.0.0.1/" }).end());
    const answer = await authorizationFetch({ serverUrl: `${origin}/mcp` })(`${origin}/metadata`);
    expect(answer.status).toBe(302);
  });

  it.each([
    [MAX_ANSWER_BYTES, true],
    [MAX_ANSWER_BYTES + 1, false],
  ])("may answer with %i bytes: %s (A3)", async (bytes, isTaken) => {
    const origin = await served((_, response) => response.end("x".repeat(bytes)));
    const asking = authorizationFetch({ serverUrl: `${origin}/mcp` })(`${origin}/metadata`);
    if (isTaken) expect((await (await asking).text()).length).toBe(bytes);
    else await expect(asking).rejects.toMatchObject({ code: "login_failed" });
  });
});

async function served(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  open.push(server);
  await once(server, "listening");
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}
