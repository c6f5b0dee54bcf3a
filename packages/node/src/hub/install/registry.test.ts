import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { FRESH_MS, MAX_FOUND, openRegistryCache, type RegistryCache } from "./registry-cache.ts";
import { createRegistryClient, MAX_ANSWER_BYTES, MAX_ENTRY_CHARS, MAX_PAGES } from "./registry-client.ts";

const { signal } = new AbortController();
let http: Server | undefined;
let cache: RegistryCache | undefined;

afterEach(async () => {
  http?.closeAllConnections();
  http?.close();
  http = undefined;
  await cache?.close();
  cache = undefined;
});

type Answer = (url: URL) => { readonly status?: number; readonly body: string };

async function serve(answer: Answer): Promise<string> {
  http = createServer((request, response) => {
    const { status = 200, body } = answer(new URL(request.url ?? "/", "http://x"));
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
  await new Promise<void>((resolve) => http?.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${String((http.address() as AddressInfo).port)}`;
}

const named = (name: string, description = "Does things.") => ({ server: { name, description, version: "1.0.0" } });
const page = (servers: readonly unknown[], nextCursor?: string): string =>
  JSON.stringify({ servers, metadata: nextCursor === undefined ? {} : { nextCursor } });

describe("the client of the registry", () => {
  it("follows pages up to a bound, though each names a next one", async () => {
    let asked = 0;
    const url = await serve(() => ({ body: page([named(`a/${String(++asked)}`)], String(asked)) }));
    let pages = 0;
    for await (const { entries } of createRegistryClient(url).list(undefined, signal)) pages += entries.length;
    expect({ pages, asked }).toEqual({ pages: MAX_PAGES, asked: MAX_PAGES });
  });

  it("leaves out entries that are too long or cannot be read, and keeps the others", async () => {
    const long = named("a/long", "x".repeat(MAX_ENTRY_CHARS));
    const url = await serve(() => ({ body: page([named("a/fine"), long, { server: { name: 7 } }, "what"]) }));
    for await (const found of createRegistryClient(url).list(undefined, signal)) {
      expect(found).toMatchObject({ entries: [{ name: "a/fine", status: "active" }], unreadable: 3 });
    }
  });

  it.each([
    ["answers too much", { body: "x".repeat(MAX_ANSWER_BYTES + 1) }, /over \d+ bytes/],
    ["fails", { status: 503, body: "" }, /answered 503/],
    ["answers with something else", { body: "<html>" }, /cannot be read/],
    ["answers with another list", { body: "[]" }, /not a list of servers/],
  ])("says so when the registry %s", async (_, answer, message) => {
    const client = createRegistryClient(await serve(() => answer));
    const read = client.list(undefined, signal).next();
    await expect(read).rejects.toMatchObject({
      code: "registry_unavailable",
      message: expect.stringMatching(message) as string,
    });
  });

  it("takes no other server for the one that was asked for", async () => {
    const url = await serve(({ pathname }) =>
      pathname.includes("missing") ? { status: 404, body: "{}" } : { body: JSON.stringify(named("a/other")) },
    );
    const client = createRegistryClient(url);
    await expect(client.read("a/one", undefined, signal)).rejects.toMatchObject({ code: "install_refused" });
    await expect(client.read("a/missing", "1.0.0", signal)).rejects.toMatchObject({ code: "server_not_found" });
  });
});

describe("the copy of the registry", () => {
  it("is brought up to date after a while, serves what it has when that fails, and takes deleted servers out", async () => {
    let now = Date.parse("2026-01-01T00:00:00Z");
    let answer: ReturnType<Answer> = {
      body: page([named("a/notes", "Keeps notes."), named("a/rain", "Tells of rain.")]),
    };
    const since: (string | null)[] = [];
    const url = await serve(({ searchParams }) => {
      since.push(searchParams.get("updated_since"));
      return answer;
    });
    cache = openRegistryCache({ path: ":memory:", client: createRegistryClient(url), now: () => now });
    const names = async (words: string) =>
      (await cache?.search(words, { limit: 10, signal }))?.servers.map(({ name }) => name);
    expect(await names("note keeping")).toEqual(["a/notes"]);
    expect(await names("!?")).toEqual([]);
    expect(since).toEqual([null]);
    now += FRESH_MS + 1;
    answer = { status: 500, body: "" };
    expect(await cache.search("rain", { limit: 10, signal })).toMatchObject({
      servers: [{ name: "a/rain" }],
      asOf: "2026-01-01T00:00:00.000Z",
      stale: expect.stringMatching(/answered 500/) as string,
    });
    const _meta = { "io.modelcontextprotocol.registry/official": { status: "deleted" } };
    answer = { body: page([{ ...named("a/rain"), _meta }]) };
    expect(await names("rain")).toEqual([]);
    expect(since.at(-1)).toBe("2026-01-01T00:00:00.000Z");
  });

  it("finds at most so many", async () => {
    const url = await serve(() => ({
      body: page(Array.from({ length: MAX_FOUND + 5 }, (_, n) => named(`a/n${String(n)}`, "Keeps notes."))),
    }));
    cache = openRegistryCache({ path: ":memory:", client: createRegistryClient(url), now: () => 0 });
    expect((await cache.search("notes", { limit: 1_000, signal })).servers).toHaveLength(MAX_FOUND);
  });
});
