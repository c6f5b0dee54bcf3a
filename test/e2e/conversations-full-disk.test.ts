import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ConversationView } from "@ergon/core/schema";
import { startScriptedServer } from "../../packages/node/src/models/scripted-server.fixture.ts";
import { temporaryFolder } from "./ergon.ts";
import { serveFolder } from "./served.ts";

let folder: ReturnType<typeof temporaryFolder>;
let disk: string;
const ending: (() => Promise<unknown> | void)[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  disk = join(folder.path, "disk");
  mkdirSync(disk);
});
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
  folder.remove();
});

describe("a disk that is full", { timeout: 120_000 }, () => {
  it("lets reading and health go on, refuses what would be lost, and goes on by itself when there is room", async (context) => {
    const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", disk], { encoding: "utf8" });
    context.skip(mounted.status !== 0, `a small disk cannot be mounted here: ${mounted.stderr || "no mount command"}`);
    ending.push(() => void spawnSync("umount", [disk]));
    const say = (content: string): string => JSON.stringify({ tool: "respond", args: { content } });
    const model = await startScriptedServer([
      say("First."),
      { kind: "text", text: say("Second, thought while there was no room."), delayMs: 1_500 },
      say("Third."),
    ]);
    ending.push(model.close);
    const data = join(disk, "data");
    const env = { ERGON_MODEL: "local/tiny", ERGON_MODEL_URL: model.url };
    const server = await serveFolder(data, { cwd: folder.path, env });
    ending.push(() => server.stop("SIGTERM"));
    const ask = async (path: string, body?: unknown, wait = false) => {
      const response = await fetch(new URL(path, server.url), {
        method: body === undefined ? "GET" : "POST",
        headers: {
          authorization: `Bearer ${server.token}`,
          "content-type": "application/json",
          ...(wait ? { prefer: "wait=60" } : {}),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const view = async (id: string): Promise<ConversationView> =>
      (await ask(`/conversations/${id}`)).body as unknown as ConversationView;
    const answersOf = async (id: string): Promise<readonly string[]> =>
      (await view(id)).history.flatMap(({ body }) => (body.kind === "response" ? [body.content] : []));

    const id = String((await ask("/message", { content: "One" }, true)).body["conversationId"]);
    expect(await answersOf(id)).toEqual(["First."]);
    await ask("/message", { content: "Two", conversationId: id });
    await expect.poll(() => model.asked(), { timeout: 30_000 }).toBe(2);
    const filler = join(disk, "filler");
    fill(filler);

    const refused = await ask("/message", { content: "Three" });
    expect(refused).toMatchObject({ status: 503, body: { code: "store_unavailable", retryable: true } });
    const degraded = async (): Promise<string> => JSON.stringify((await ask("/stats")).body["conversations"]);
    await expect.poll(degraded, { timeout: 30_000 }).toContain("Nothing can be written");
    expect((await ask("/healthz")).status).toBe(200);
    const ready = await ask("/readyz");
    expect(ready).toMatchObject({ status: 503, body: { code: "store_unavailable", retryable: true } });
    expect(ready.body["detail"]).toContain("The disk is full");
    expect((await ask("/energy")).status).toBe(200);
    expect((await ask("/conversations")).status).toBe(200);
    expect(await answersOf(id)).toEqual(["First."]);

    rmSync(filler);
    await expect
      .poll(() => answersOf(id), { timeout: 30_000 })
      .toEqual(["First.", "Second, thought while there was no room."]);
    await expect.poll(degraded, { timeout: 30_000 }).not.toContain("Nothing can be written");
    expect((await ask("/readyz")).status).toBe(200);
    const third = await ask("/message", { content: "Three", conversationId: id }, true);
    expect(third).toMatchObject({ status: 200, body: { response: { content: "Third." } } });
    const events = async (): Promise<number> => {
      const { body } = await ask(`/sessions/${id}/trace`);
      return (body["items"] as { type: string }[]).filter(({ type }) => type === "response-sent").length;
    };
    await expect.poll(events, { timeout: 30_000 }).toBe(3);
    expect(model.asked()).toBe(3);
  });
});

/** Until nothing more fits, down to the last byte. */
function fill(path: string): void {
  const file = openSync(path, "w");
  for (const bytes of [1024 * 1024, 4096, 1]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(bytes));
    } catch {
      continue;
    }
  }
  closeSync(file);
}
