import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { StoredEvent } from "@ergon/core";
import type { Engine } from "@ergon/core/engine";
import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { createRemoteEngine } from "@ergon/node";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FIRST_TOKEN, LOCAL_TOKEN, serve, type Served } from "./serve.fixture.ts";

const owner = "ann";

describe("a remote engine whose owner disappears", () => {
  let world: EngineWorld;
  let served: Served;
  let remote: Engine;
  let sessionId: string;

  beforeEach(async () => {
    world = createEngineWorld();
    served = await serve(world);
    remote = createRemoteEngine({ url: served.url, token: LOCAL_TOKEN });
    ({ sessionId } = await remote.createSession({ owner }));
    await remote.executePlan({ owner, sessionId, plan: "hold" });
  });
  afterEach(async () => {
    await served.close();
    await world.close();
  });

  it("rejects whatever was under way, so that the caller can take over (R2)", async () => {
    const waiting = [remote.settled({ owner, sessionId }), collect(remote, sessionId), collect(remote, undefined)];
    for (const promise of waiting) promise.catch(() => undefined);
    await new Promise((done) => setTimeout(done, 100));
    await served.server.close();
    for (const promise of waiting) {
      await expect(promise).rejects.toMatchObject({ code: "owner_gone", retryable: true, details: { sent: false } });
    }
  });

  it("rejects whatever is asked later, and says that it was not even sent", async () => {
    await served.server.close();
    // Time to notice that the connections kept for later are closed.
    await new Promise((done) => setTimeout(done, 50));
    const gone = { code: "owner_gone", retryable: true, details: { sent: false } };
    await expect(remote.createSession({ owner })).rejects.toMatchObject(gone);
    await expect(remote.cancel({ owner, sessionId })).rejects.toMatchObject(gone);
    await expect(remote.readSession({ owner, sessionId })).rejects.toMatchObject(gone);
    await expect(remote.settled({ owner, sessionId })).rejects.toMatchObject(gone);
    await expect(collect(remote, sessionId)).rejects.toMatchObject(gone);
    await expect(remote.readBlob({ owner, id: "0".repeat(64) })).rejects.toMatchObject(gone);
  });

  it("says that a request may have been carried out when the connection broke after sending", async () => {
    const { url, close } = await strangeServer((_, response) => response.destroy());
    const cut = createRemoteEngine({ url, token: LOCAL_TOKEN });
    const broken = { code: "owner_gone", details: { sent: true } };
    await expect(cut.cancel({ owner, sessionId })).rejects.toMatchObject(broken);
    await expect(cut.createSession({ owner })).rejects.toMatchObject(broken);
    await close();
  });

  it("takes another process at its address for what it is", async () => {
    const answers = [
      [401, '{"type":"x","title":"x","status":401,"code":"unauthorized","detail":"who?"}'],
      [404, "<html>not found</html>"],
      [500, "{}"],
      [302, ""],
    ] as const;
    for (const [status, body] of answers) {
      const headers = { location: "/elsewhere" };
      const { url, close } = await strangeServer((_, response) => response.writeHead(status, headers).end(body));
      const other = createRemoteEngine({ url, token: LOCAL_TOKEN });
      await expect(other.readSession({ owner, sessionId })).rejects.toMatchObject({ code: "owner_gone" });
      await close();
    }
    const stale = createRemoteEngine({ url: served.url, token: "of-an-earlier-owner" });
    await expect(stale.readSession({ owner, sessionId })).rejects.toMatchObject({ code: "owner_gone" });
  });

  it("goes on after a break of the stream, without a gap and without an event twice (R3)", async () => {
    const proxy = await cuttingProxy(served.url);
    const through = createRemoteEngine({ url: proxy.url, token: LOCAL_TOKEN });
    const following = collect(through, sessionId);
    await new Promise((done) => setTimeout(done, 100));
    proxy.cut();
    world.release();
    const events = await following;
    proxy.cut();
    expect(events).toEqual(await collect(remote, sessionId));
    expect(proxy.streams()).toBeGreaterThan(1);
    await proxy.close();
  });

  it("gives up on a stream that breaks again and again", async () => {
    let asked = 0;
    const { url, close } = await strangeServer((_, response) => {
      asked += 1;
      response.writeHead(200, { "content-type": "text/event-stream" }).end("retry: 1\n\n");
    });
    const other = createRemoteEngine({ url, token: LOCAL_TOKEN });
    await expect(collect(other, sessionId)).rejects.toMatchObject({ code: "owner_gone" });
    expect(asked).toBe(6);
    await close();
  });

  it("does not let anybody but this folder's processes name an owner", async () => {
    const first = createRemoteEngine({ url: served.url, token: FIRST_TOKEN });
    await expect(first.readSession({ owner, sessionId })).rejects.toMatchObject({ code: "forbidden" });
  });
});

async function collect(engine: Engine, sessionId: string | undefined): Promise<StoredEvent[]> {
  const stop = new AbortController();
  const events: StoredEvent[] = [];
  const session = sessionId === undefined ? {} : { sessionId };
  for await (const event of engine.follow({ owner, afterSeq: 0, signal: stop.signal, ...session })) {
    events.push(event);
    if (event.type === "session-completed") stop.abort();
  }
  return events;
}

async function strangeServer(answer: Parameters<typeof createServer>[1]) {
  const server = createServer(answer);
  return { url: await listen(server), close: () => closeServer(server) };
}

/** Passes requests on, and breaks the connections on command. */
async function cuttingProxy(target: string) {
  let streams = 0;
  const open = new Set<AbortController>();
  const server = createServer((request, response) => {
    const cutting = new AbortController();
    open.add(cutting);
    if (request.url?.endsWith("/events") === true) streams += 1;
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(
        ([name, value]) => name !== "host" && name !== "connection" && value !== undefined,
      ),
    ) as Record<string, string>;
    void fetch(new URL(request.url ?? "/", target), { headers, signal: cutting.signal })
      .then(async (answer) => {
        response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
        for await (const chunk of answer.body ?? []) response.write(chunk as Uint8Array);
        response.end();
      })
      .catch(() => response.destroy());
  });
  const url = await listen(server);
  return {
    url,
    streams: () => streams,
    cut: () => {
      for (const one of open) one.abort();
      open.clear();
    },
    close: () => closeServer(server),
  };
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
}
