import { createSystemClock, silentLogger } from "@ergon/core";
import { afterEach, describe, expect, it } from "vitest";
import { createMcpChanges } from "../host/changes.ts";
import { INITIALIZE, type LegacyServer, openLegacyServer, post } from "./legacy-server.fixture.ts";
import { createLegacySessions, type LegacyBounds, type LegacySessions } from "./legacy-sessions.ts";
import { createMcpHost } from "../host/mcp-host.ts";

const opened: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

describe("sessions of the older era", () => {
  it("are bounded per principal: the one that was silent longest goes, of that principal alone", async () => {
    const { door } = await make({ perOwner: 2 });
    const theirs = await begin(door, "bob");
    const [first, second] = [await begin(door, "ada"), await begin(door, "ada")];
    expect(await isThere(door, "ada", first)).toBe(true);
    const third = await begin(door, "ada");
    expect(await isThere(door, "ada", second)).toBe(false);
    for (const id of [first, third]) expect(await isThere(door, "ada", id)).toBe(true);
    expect(await isThere(door, "bob", theirs)).toBe(true);
  });

  it("are bounded in all", async () => {
    const { door, sessions } = await make({ inAll: 2 });
    const first = await begin(door, "ada");
    await begin(door, "bob");
    await begin(door, "cleo");
    expect(sessions.count()).toBe(2);
    expect(await isThere(door, "ada", first)).toBe(false);
  });

  it("are not closed while they are at work: then the new one is refused", async () => {
    const { door } = await make({ perOwner: 1 });
    const first = await begin(door, "ada");
    const leave = new AbortController();
    await fetch(door.url, {
      headers: { owner: "ada", "mcp-session-id": first, accept: "text/event-stream" },
      signal: leave.signal,
    });
    const refused = await post(door.url, INITIALIZE, { owner: "ada" });
    expect(await refused.json()).toMatchObject({ code: "too_many_requests" });
    expect(await isThere(door, "ada", first)).toBe(true);
    leave.abort();
  });

  it("leave nothing behind when their opening is refused", async () => {
    const { door, sessions } = await make({});
    const refused = await post(door.url, INITIALIZE, { owner: "ada", accept: "text/html" });
    expect(refused.status).toBe(406);
    expect(sessions.count()).toBe(0);
  });

  it("are begun with initialize and with nothing else, and are nobody's that are not there", async () => {
    const { door } = await make({});
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await post(door.url, ping)).status).toBe(400);
    expect((await post(door.url, ping, { "mcp-session-id": "none" })).status).toBe(404);
  });
});

async function make(bounds: LegacyBounds): Promise<{ door: LegacyServer; sessions: LegacySessions }> {
  const deps = { surfaces: [], changes: createMcpChanges(), logger: silentLogger, debug: false };
  const host = createMcpHost({ name: "test", version: "0", ...deps });
  const sessions = createLegacySessions(host, createSystemClock(), bounds);
  const door = await openLegacyServer((exchange, body) =>
    sessions.handle(exchange, { owner: String(exchange.request.headers["owner"]), body }),
  );
  opened.push(sessions, door);
  return { door, sessions };
}

async function begin({ url }: LegacyServer, owner: string): Promise<string> {
  const response = await post(url, INITIALIZE, { owner });
  await response.text();
  return response.headers.get("mcp-session-id") ?? "";
}

async function isThere({ url }: LegacyServer, owner: string, id: string): Promise<boolean> {
  const response = await post(url, { jsonrpc: "2.0", id: 1, method: "ping" }, { owner, "mcp-session-id": id });
  await response.text();
  return response.status === 200;
}
