import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serve, type Served } from "../serve.fixture.ts";

describe("reading a session again", () => {
  let world: EngineWorld;
  let served: Served;
  let path: string;
  let etag: string;
  const again = (tag: string, options = {}) =>
    served.ask("GET", path, { headers: { "if-none-match": tag }, ...options });

  beforeEach(async () => {
    world = createEngineWorld();
    served = await serve(world);
    const created = await served.ask("POST", "/sessions", { body: { context: { name: "Ada" } } });
    path = `/sessions/${String(created.body["sessionId"])}`;
    etag = (await served.ask("GET", path)).headers.get("etag") ?? "";
  });
  afterEach(async () => {
    await served.close();
    await world.close();
  });

  it("answers 304 without a body while it is the same, to one tag, to one of several and to a weak one", async () => {
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    for (const tag of [etag, `"other", ${etag}`, `W/${etag}`, "*"]) {
      const answer = await again(tag);
      expect(answer).toMatchObject({ status: 304, text: "" });
      expect(answer.headers.get("etag")).toBe(etag);
    }
    expect(await again('"other"')).toMatchObject({ status: 200 });
  });

  it("answers 200 with another tag once anything of it has changed", async () => {
    const [, , sessionId = ""] = path.split("/");
    const at = new Date().toISOString();
    const value = { kind: "inline", value: "Bob" } as const;
    await world.store.commit({ sessionId, owner: "first", context: [{ scope: "", key: "name", value }] });
    const answer = await again(etag);
    expect(answer).toMatchObject({ status: 200, body: { context: { name: "Bob" } } });
    expect(answer.headers.get("etag")).not.toBe(etag);
    const changed = answer.headers.get("etag") ?? "";
    await world.store.commit({ sessionId, owner: "first", events: [{ type: "response-sent", at, data: {} }] });
    expect(await again(changed)).toMatchObject({ status: 304 });
  });

  it("gives each view of it a tag of its own", async () => {
    const core = await served.ask("GET", `${path}?view=core`);
    expect(core.headers.get("etag")).not.toBe(etag);
    const headers = { "if-none-match": core.headers.get("etag") ?? "" };
    expect(await served.ask("GET", `${path}?view=core`, { headers })).toMatchObject({ status: 304 });
  });

  it("tells another principal with the right tag no more than that there is no such session", async () => {
    expect(await again(etag, { token: await served.tokenFor("bot", "agent") })).toMatchObject({ status: 404 });
    expect(await again("*", { token: null })).toMatchObject({ status: 401 });
  });
});
