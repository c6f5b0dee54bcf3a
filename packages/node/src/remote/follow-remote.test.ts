import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { followRemote } from "./follow-remote.ts";

const SILENCE_MS = 150;

describe("following the owner's events", () => {
  let server: Server | undefined;
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  it("asks again behind the last event when a connection stays silent too long", async () => {
    const asked: string[] = [];
    const url = await serve((lastId, write) => {
      asked.push(lastId);
      // One event, and then not even a sign of life.
      write(frame(Number(lastId) + 1));
    });
    const seen: number[] = [];
    for await (const { seq } of followRemote(target(url), request(), SILENCE_MS)) {
      seen.push(seq);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual([1, 2, 3]);
    expect(asked).toEqual(["0", "1", "2"]);
  });

  it("stays with a connection that shows signs of life", async () => {
    let asked = 0;
    const url = await serve((_lastId, write) => {
      asked += 1;
      let beats = 0;
      const timer = setInterval(() => {
        beats += 1;
        write(beats > 10 ? frame(1) : ": alive\n\n");
        if (beats > 10) clearInterval(timer);
      }, SILENCE_MS / 5);
    });
    for await (const { seq } of followRemote(target(url), request(), SILENCE_MS * 10)) {
      expect(seq).toBe(1);
      break;
    }
    expect(asked).toBe(1);
  });

  it("gives the owner up when connection after connection stays silent", async () => {
    let asked = 0;
    const url = await serve(() => {
      asked += 1;
    });
    const following = followRemote(target(url), request(), SILENCE_MS);
    await expect(following.next()).rejects.toMatchObject({ code: "owner_gone" });
    expect(asked).toBe(6);
  }, 30_000);

  async function serve(answer: (lastId: string, write: (text: string) => void) => void): Promise<string> {
    server = createServer((incoming, outgoing) => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      answer(String(incoming.headers["last-event-id"]), (text) => void outgoing.write(text));
    });
    await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
});

function frame(seq: number): string {
  const event = { seq, owner: "ann", type: "session-created", at: "2026-01-01T00:00:00.000Z", data: {} };
  return `id: ${seq}\ndata: ${JSON.stringify(event)}\n\n`;
}

function target(url: string) {
  return { url, token: "t" };
}

function request() {
  return { owner: "ann", afterSeq: 0, signal: new AbortController().signal };
}
