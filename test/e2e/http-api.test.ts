import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "./ergon.ts";
import { type ApiClient, openApiClient } from "./openapi-client.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

const text = "one two three four five six seven eight nine ten eleven twelve";

describe("the API, through a client made from its own description", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let server: ServedFolder;
  let api: ApiClient;
  const open = async (): Promise<void> => {
    server = await serveFolder(join(folder.path, "data"), { cwd: folder.path });
    api = await openApiClient(server.url, server.token);
  };

  beforeAll(async () => {
    folder = temporaryFolder();
    await open();
  });
  afterAll(async () => {
    await server.stop("SIGTERM");
    folder.remove();
  });

  it("shows what there is", async () => {
    const plans = await api.call("listPlans");
    expect(plans.body["items"]).toContainEqual(expect.objectContaining({ planId: "review_text" }));
    const plan = await api.call("readPlan", { params: { id: "review_text" } });
    expect(plan.body).toMatchObject({ planId: "review_text", startStepId: "look" });
    expect((await api.call("validatePlan", { body: { plan: plan.body } })).body).toMatchObject({ ok: true });
    const tools = await api.call("listTools");
    expect(tools.body["items"]).toContainEqual(expect.objectContaining({ id: "demo::word_count" }));
    expect((await api.call("listCapabilities")).status).toBe(200);
    const found = await api.call("discoverCapabilities", { body: { query: "count the words of a text" } });
    expect((found.body["items"] as readonly unknown[])[0]).toMatchObject({ id: "demo::word_count" });
    const called = await api.call("callTool", { params: { id: "demo::word_count" }, body: { args: { text } } });
    expect(called.body).toMatchObject({ output: { words: 12 } });
    for (const name of ["health", "readiness", "stats", "metrics", "openApi"])
      expect((await api.call(name)).status).toBe(200);
  });

  it("runs a plan that asks a person, through SIGKILL and a restart, to its end", { timeout: 60_000 }, async () => {
    const { sessionId } = (await api.call("createSession", { body: { context: { from: "e2e" } } })).body;
    const id = String(sessionId);
    const paused = await api.call("executePlan", {
      params: { id, Prefer: "wait=20" },
      body: { planId: "review_text", input: { text } },
    });
    expect(paused).toMatchObject({
      status: 200,
      body: { core: { status: "paused_on_human", waiting: [{ stepId: "ask" }] } },
    });
    const before = (await api.call("traceSession", { params: { id } })).body["items"] as readonly { seq: number }[];

    await server.stop("SIGKILL");
    await open();

    expect((await api.call("listSessions", { params: { status: "paused_on_human" } })).body["items"]).toMatchObject([
      { sessionId: id },
    ]);
    expect((await api.call("executePlan", { params: { id }, body: { planId: "review_text" } })).status).toBe(409);
    expect((await api.call("resumeSession", { params: { id }, body: { input: { pass: "x" } } })).status).toBe(422);
    const done = await api.call("resumeSession", {
      params: { id, Prefer: "wait=20" },
      body: { input: { pass: true } },
    });
    expect(done).toMatchObject({ status: 200, body: { core: { status: "completed" }, context: { from: "e2e" } } });
    expect((await api.call("cancelSession", { params: { id } })).status).toBe(409);

    const whole = (await api.call("traceSession", { params: { id } })).body["items"] as readonly { seq: number }[];
    expect(whole.slice(0, before.length)).toEqual(before);
    expect(whole.at(-1)).toMatchObject({ type: "session-completed" });
    const last = before.at(-1)?.seq ?? 0;
    expect(await readEvents(`/sessions/${id}/events`, last, "session-completed")).toEqual(whole.slice(before.length));
  });

  it("gives a large value's bytes", async () => {
    const long = "word ".repeat(20_000);
    const { sessionId } = (await api.call("createSession", { body: { context: { long } } })).body;
    const session = await api.call("readSession", { params: { id: String(sessionId) } });
    const { $blob } = (session.body["context"] as { long: { $blob: string } }).long;
    const { bytes } = await api.call("readBlob", { params: { id: $blob } });
    expect(JSON.parse(new TextDecoder().decode(bytes))).toBe(long);
  });

  it("gives tokens to others, who see their own only, and takes them back", async () => {
    const made = await api.call("addToken", { body: { name: "bot" } });
    expect(made).toMatchObject({ status: 201, body: { name: "bot", scope: "agent" } });
    const bot = await openApiClient(server.url, String(made.body["token"]));
    expect((await bot.call("listSessions")).body["items"]).toEqual([]);
    expect((await bot.call("listTokens")).status).toBe(403);
    expect((await api.call("listTokens")).body["items"]).toMatchObject([{ name: "bot" }]);
    expect((await api.call("revokeToken", { params: { name: "bot" } })).status).toBe(200);
    expect((await bot.call("listSessions")).status).toBe(401);
  });

  async function readEvents(path: string, after: number, lastType: string): Promise<unknown[]> {
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${server.token}`, "last-event-id": String(after) };
    const response = await fetch(new URL(path, server.url), { headers, signal: leaving.signal });
    let received = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      received += decoder.decode(chunk as Uint8Array, { stream: true });
      if (received.includes(`event: ${lastType}\n`) && received.endsWith("\n\n")) break;
    }
    leaving.abort();
    return [...received.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? "") as unknown);
  }
});
