import { createSystemClock, silentLogger } from "@ergon/core";
import { afterEach, describe, expect, it } from "vitest";
import { createMcpChanges } from "./changes.ts";
import { createLegacySessions, type LegacyBounds, type LegacySessions } from "./legacy-sessions.ts";
import { createMcpHost } from "./mcp-host.ts";

const never = new Promise<void>(() => undefined);
const opened: LegacySessions[] = [];
afterEach(async () => {
  for (const sessions of opened.splice(0)) await sessions.close();
});

describe("sessions of the older era", () => {
  it("are bounded per principal: the one that was silent longest goes, of that principal alone", async () => {
    const sessions = make({ perOwner: 2 });
    const theirs = await begin(sessions, "bob");
    const [first, second] = [await begin(sessions, "ada"), await begin(sessions, "ada")];
    expect(await isThere(sessions, "ada", first)).toBe(true);
    const third = await begin(sessions, "ada");
    expect(await isThere(sessions, "ada", second)).toBe(false);
    for (const id of [first, third]) expect(await isThere(sessions, "ada", id)).toBe(true);
    expect(await isThere(sessions, "bob", theirs)).toBe(true);
  });

  it("are bounded in all", async () => {
    const sessions = make({ inAll: 2 });
    const first = await begin(sessions, "ada");
    await begin(sessions, "bob");
    await begin(sessions, "cleo");
    expect(sessions.count()).toBe(2);
    expect(await isThere(sessions, "ada", first)).toBe(false);
  });

  it("are not closed while they are at work: then the new one is refused", async () => {
    const sessions = make({ perOwner: 1 });
    const first = await begin(sessions, "ada", never);
    await expect(begin(sessions, "ada")).rejects.toMatchObject({ code: "too_many_requests" });
    expect(await isThere(sessions, "ada", first)).toBe(true);
  });

  it("leave nothing behind when their opening is refused", async () => {
    const sessions = make({});
    const refused = await sessions.handle(request({ accept: "text/html" }), {
      owner: "ada",
      parsedBody: INITIALIZE,
      ended: Promise.resolve(),
    });
    expect(refused.status).toBe(406);
    expect(sessions.count()).toBe(0);
  });
});

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

function make(bounds: LegacyBounds): LegacySessions {
  const deps = { surfaces: [], changes: createMcpChanges(), logger: silentLogger, debug: false };
  const sessions = createLegacySessions(
    createMcpHost({ name: "test", version: "0", ...deps }),
    createSystemClock(),
    bounds,
  );
  opened.push(sessions);
  return sessions;
}

function request(headers: Record<string, string>): Request {
  const always = { accept: "application/json, text/event-stream", "content-type": "application/json" };
  return new Request("http://localhost/mcp", { method: "POST", headers: { ...always, ...headers } });
}

async function begin(sessions: LegacySessions, owner: string, ended = Promise.resolve()): Promise<string> {
  const response = await sessions.handle(request({}), { owner, parsedBody: INITIALIZE, ended });
  return response.headers.get("mcp-session-id") ?? "";
}

async function isThere(sessions: LegacySessions, owner: string, id: string): Promise<boolean> {
  const parsedBody = { jsonrpc: "2.0", id: 1, method: "ping" };
  const options = { owner, parsedBody, ended: Promise.resolve() };
  return (await sessions.handle(request({ "mcp-session-id": id }), options)).status === 200;
}
