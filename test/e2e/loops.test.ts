import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ergon, temporaryFolder } from "./ergon.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

type Loop = { readonly id: string; readonly status: string };

describe("refinement loops", { timeout: 60_000 }, () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let data: string;
  let server: ServedFolder | undefined;
  const env = (store: string) => ({ ERGON_LOOP_STORE: store, FSDD_LOOP_PLAN_THRESHOLD: "70" });
  const serve = async (store: string): Promise<ServedFolder> => {
    server = await serveFolder(data, { cwd: folder.path, env: env(store) });
    return server;
  };
  const run = (store: string, ...args: string[]) =>
    ergon(["--data", data, ...args], { cwd: folder.path, env: env(store) });
  const ask = async (
    path: string,
    body?: unknown,
    token = server?.token,
  ): Promise<{ status: number; body: unknown }> => {
    const response = await fetch(new URL(path, server?.url), {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${token ?? ""}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };

  beforeEach(() => {
    folder = temporaryFolder();
    data = join(folder.path, "data");
  });
  afterEach(async () => {
    await server?.stop("SIGTERM");
    server = undefined;
    folder.remove();
  });

  it("are begun, decided and read over HTTP, by their owner alone, with the thresholds of the environment", async () => {
    const { url, token } = await serve("memory");
    const begun = await ask("/loops", { loop_type: "plan" });
    expect(begun).toMatchObject({ status: 201, body: { status: "initialized" } });
    const { id } = begun.body as Loop;
    expect(await ask(`/loops/${id}/decide`, { current_score: 69 })).toMatchObject({
      body: { status: "refine", score: 69 },
    });
    expect(await ask(`/loops/${id}/decide`, { current_score: 70 })).toMatchObject({ body: { status: "completed" } });
    expect(await ask(`/loops/${id}`)).toMatchObject({ status: 200, body: { score_history: [69, 70], iteration: 1 } });
    expect(await ask("/loops")).toMatchObject({ status: 200, body: { items: [{ id, status: "completed" }] } });
    expect(await ask(`/loops/${id}/decide`, { current_score: "70" })).toMatchObject({
      status: 422,
      body: { code: "loop_validation", details: { field: "current_score" } },
    });
    expect(await ask("/loops/zzzzzzzz")).toMatchObject({ status: 404, body: { code: "loop_not_found" } });

    const bot = (await run("memory", "token", "add", "bot")).out.trim();
    expect(await ask(`/loops/${id}`, undefined, bot)).toMatchObject({ status: 404 });
    expect(await ask("/loops", undefined, bot)).toMatchObject({ body: { items: [] } });

    const events = await fetch(new URL("/events?after=0", url), { headers: { authorization: `Bearer ${token}` } });
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader();
    let told = "";
    while (told.split("event: loop-decided").length < 3) told += (await reader?.read())?.value ?? "";
    await reader?.cancel();
    expect(told).toContain(`"loopId":"${id}"`);
    expect(told).toContain('"why":"good_enough"');

    expect(JSON.parse((await run("memory", "loops", "--json")).out)).toMatchObject({ items: [{ id }] });
    expect((await run("memory", "loops", "show", id)).out).toContain("scores: 69 → 70");
    expect((await run("memory", "loops", "list", "--owner", "bot")).err).toContain("No refinement loops of bot");
    const missing = { code: 2, err: expect.stringContaining("ERGON_LOOP_STORE=sqlite keeps them") as unknown };
    expect(await run("memory", "loops", "show", "abcdef01")).toMatchObject(missing);
  });

  it("outlive a killed server when they are kept in SQLite, and go on", async () => {
    await serve("sqlite");
    const { id } = (await ask("/loops", { loop_type: "spec" })).body as Loop;
    await ask(`/loops/${id}/decide`, { current_score: 45 });
    await server?.stop("SIGKILL");
    await serve("sqlite");
    expect(await ask(`/loops/${id}/decide`, { current_score: 62 })).toMatchObject({
      body: { status: "refine", iteration: 2 },
    });
    expect(await ask(`/loops/${id}`)).toMatchObject({ body: { score_history: [45, 62] } });
    await server?.stop("SIGTERM");
    server = undefined;
    expect((await run("sqlite", "loops", "show", "abcdef01")).err).not.toContain("ERGON_LOOP_STORE");
    expect((await run("sqlite", "loops")).out).toMatch(new RegExp(`${id} +refine +62 +2`));
  });

  it("refuse a mistyped setting, and say which was meant", async () => {
    const mistyped = { FSDD_LOOP_PLAN_TRESHOLD: "80" };
    const answer = await ergon(["loops", "--data", data], { cwd: folder.path, env: mistyped });
    expect(answer).toMatchObject({ code: 2, err: expect.stringContaining('"FSDD_LOOP_PLAN_THRESHOLD"') as unknown });
  });
});
