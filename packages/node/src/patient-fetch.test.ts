import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { NOT_TAKEN, patientFetch } from "./patient-fetch.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe("a patient fetch", () => {
  it.each([
    ["to begin", 0],
    ["to go on", 1],
  ])("waits for an answer that takes longer %s than Node's own fetch would wait", async (_, first) => {
    const url = await served(async (_request, response) => {
      if (first > 0) response.write("he");
      await sleep(ANSWER_MS);
      response.end(first > 0 ? "llo" : "hello");
    });
    await fetch("data:,");
    const ends = await Promise.allSettled([hastyFetch(url), patientFetch(url, {})].map(textOf));
    expect(ends).toMatchObject([{ status: "rejected" }, { status: "fulfilled", value: "hello" }]);
  });

  it("sends what it is given, and gives what it is sent", async () => {
    const url = await served(async (request, response) => {
      response.writeHead(418, "Teapot", [
        ["set-cookie", "a=1"],
        ["set-cookie", "b=2"],
        ["x-got", `${request.method ?? ""} ${String(request.headers["x-key"])}`],
      ]);
      response.end(await text(request));
    });
    const answer = await patientFetch(url, { method: "POST", headers: { "X-Key": "k" }, body: "grüße" });
    expect([answer.status, answer.statusText, answer.ok]).toEqual([418, "Teapot", false]);
    expect([answer.headers.get("x-got"), answer.headers.getSetCookie()]).toEqual(["POST k", ["a=1", "b=2"]]);
    expect(await answer.text()).toBe("grüße");
  });

  describe("that asks first", () => {
    const post = { method: "POST", body: "grüße", asksFirst: true };

    it("sends the body once the server takes the request", async () => {
      const url = await served(async (request, response) => response.end(await text(request)));
      expect(await (await patientFetch(url, post)).text()).toBe("grüße");
    });

    it("says that a request was not taken when the connection breaks before that, and not after", async () => {
      const unread = await listening(createTcpServer((socket) => socket.once("data", () => socket.destroy())));
      await expect(patientFetch(unread, post)).rejects.toMatchObject({ code: NOT_TAKEN });
      await expect(patientFetch(unread, { ...post, asksFirst: false })).rejects.toMatchObject({ code: "ECONNRESET" });
      const read = await served((_, response) => response.destroy());
      await expect(patientFetch(read, post)).rejects.toMatchObject({ code: "ECONNRESET" });
    });

    it("takes a refusal that comes without a word about the body", async () => {
      let seen = "";
      const refusing = createTcpServer((socket) => {
        socket.on("data", (bytes) => {
          seen += bytes.toString();
          socket.write("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno");
        });
      });
      const url = await listening(refusing);
      const answer = await patientFetch(url, post);
      expect([answer.status, await answer.text()]).toEqual([403, "no"]);
      expect(seen).not.toContain("grüße");
    });
  });

  it.each([204, 302, 304])("gives an answer of %i as it is", async (status) => {
    const url = await served((_, response) => response.writeHead(status, { location: "/elsewhere" }).end());
    expect((await patientFetch(url, {})).status).toBe(status);
  });

  it("refuses an answer whose status is none", async () => {
    const url = await served((_, response) => response.writeHead(999).end());
    await expect(patientFetch(url, {})).rejects.toThrow(RangeError);
  });

  it.each([
    ["gzip", gzipSync("hello")],
    ["deflate", deflateSync("hello")],
    ["br", brotliCompressSync("hello")],
  ])("unpacks %s", async (encoding, bytes) => {
    const url = await served((_, response) => response.writeHead(200, { "content-encoding": encoding }).end(bytes));
    expect(await (await patientFetch(url, {})).text()).toBe("hello");
  });

  it("hands on at once what has come of a packed stream", async () => {
    const url = await served((_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      const packing = createGzip();
      packing.pipe(response);
      packing.write("data: 1\n\n");
      packing.flush();
    });
    const body = (await patientFetch(url, {})).body as ReadableStream<Uint8Array>;
    const reader = body.getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("data: 1\n\n");
    await reader.cancel();
  });

  it("ends with its caller's reason, before the answer begins and within it", async () => {
    let gone = 0;
    const url = await served((request, response) => {
      response.on("close", () => (gone += 1));
      if (request.url === "/begun") response.write("he");
    });
    const reason = new Error("enough");
    const gaveUp = new AbortController();
    const waits = patientFetch(url, { signal: gaveUp.signal });
    const begun = await patientFetch(new URL("/begun", url), { signal: gaveUp.signal });
    const reads = begun.text();
    gaveUp.abort(reason);
    await expect(waits).rejects.toBe(reason);
    await expect(reads).rejects.toThrow("aborted");
    await expect(patientFetch(url, { signal: gaveUp.signal })).rejects.toBe(reason);
    await expect.poll(() => gone).toBe(2);
  });

  it("fails when the connection breaks within an answer", async () => {
    const url = await served((_, response) => {
      response.write("he", () => response.destroy());
    });
    const answer = await patientFetch(url, {});
    await expect(answer.text()).rejects.toThrow("aborted");
  });

  it("says why nobody could be reached", async () => {
    const url = await served(() => undefined);
    for (const close of closing.splice(0)) await close();
    await expect(patientFetch(url, {})).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});

/** Node's fetch looks at its clock once a second. */
const FETCH_LIMIT_MS = 500;
const ANSWER_MS = 3_000;

/** Five minutes are long for a test: the same fetch, with the same limits made short. */
function hastyFetch(url: URL): Promise<Response> {
  const place = Symbol.for("undici.globalDispatcher.1");
  const { constructor: Dispatcher } = (globalThis as Record<symbol, unknown>)[place] as Usual;
  const dispatcher = new Dispatcher({ headersTimeout: FETCH_LIMIT_MS, bodyTimeout: FETCH_LIMIT_MS });
  return fetch(url, { dispatcher } as RequestInit);
}

type Usual = { readonly constructor: new (limits: object) => unknown };

async function textOf(answer: Promise<Response>): Promise<string> {
  return (await answer).text();
}

async function served(listener: (...args: Parameters<RequestListener>) => unknown): Promise<URL> {
  const server = createServer((request, response) => void listener(request, response));
  closing.push(() => server.closeAllConnections());
  return listening(server);
}

async function listening(server: Server): Promise<URL> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.unshift(async () => {
    server.close();
    await once(server, "close");
  });
  return new URL(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`);
}
