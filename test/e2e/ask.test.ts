import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { MCPResponse } from "@ergon/core";
import { type ScriptedServer, startScriptedServer } from "../../packages/node/src/models/scripted-server.fixture.ts";
import { prepareSupabase } from "../../capabilities/tools/talent/shared/prepared-supabase.fixture.ts";
import { ergon, finish, start, temporaryFolder } from "./ergon.ts";
import { prepareVectors } from "./prepared-vectors.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

let folder: ReturnType<typeof temporaryFolder>;
const servers: { readonly stop: () => Promise<unknown> }[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const { stop } of servers.splice(0)) await stop();
  folder.remove();
});

async function scripted(...replies: Parameters<typeof startScriptedServer>[0]): Promise<ScriptedServer> {
  const model = await startScriptedServer(replies);
  servers.push({ stop: model.close });
  return model;
}

async function served(env: Readonly<Record<string, string>> = {}): Promise<ServedFolder> {
  const server = await serveFolder(join(folder.path, ".ergon"), { cwd: folder.path, env });
  servers.push({ stop: () => server.stop("SIGTERM") });
  return server;
}

const using = (model: ScriptedServer) => ({ ERGON_MODEL: "local/tiny", ERGON_MODEL_URL: model.url });
const greet = { tool: "demo::greet", args: { who: "Ada" }, announcement: "I greet Ada." };
const finalize = { tool: "finalize_summary", args: {} };
const turn = (content: string, sessionId = "s1") => ({
  mode: "general",
  sessionId,
  messages: [{ role: "user", content }],
});

/** The folder is named: some tests put something into it before Ergon makes it. */
const here = (env: Readonly<Record<string, string>> = {}) => ({
  cwd: folder.path,
  env: { ...env, ERGON_DATA: join(folder.path, ".ergon") },
});

async function post({ url, token }: { url: string; token: string }, path: string, body: unknown) {
  const response = await fetch(new URL(path, url), {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as MCPResponse & Record<string, unknown> };
}

async function get({ url, token }: { url: string; token: string }, path: string): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(path, url), { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, ...((await response.json()) as object) };
}

describe("ergon ask", { timeout: 120_000 }, () => {
  it("plans, runs and sums up with no key and no network, and shows the plan", async () => {
    const question = 'How many words are in "to be or not to be", and greet Ada Lovelace';
    const { out, err, code } = await ergon(["ask", question], here());
    expect(code).toBe(0);
    expect(out).toBe("words: 6, lines: 1, characters: 18.\ngreeting: Hello, Ada Lovelace!\n");
    expect(err).toMatch(/plan \(offline\)\n {2}1\. demo::word_count \{"text":"to be or not to be"\}/);
    expect(err).toMatch(/\n {2}2\. demo::greet \{"who":"Ada Lovelace"\}/);
    expect(err).toContain("✓ 1-demo::word_count");
    expect(err).toMatch(/ergon ask --session ses_\w+/);
  });

  it("answers whom a person is missing what for from the sample data, and goes on with them", async () => {
    await prepareSupabase(join(folder.path, ".ergon/supabase"));
    await prepareVectors(join(folder.path, ".ergon"));
    const question = "Which capabilities is Amara Osei missing for Data Engineer, and what should they learn first?";
    const { out, err, code } = await ergon(["ask", question, "--session", "amara"], here());
    expect(code).toBe(0);
    expect(err).toMatch(/1\. getCapabilityGaps \{"profileId":"amara-osei","roleId":"data-engineer"\}/);
    expect(err).toContain("2. getDevelopmentPlan");
    expect(out).toContain("Amara Osei is 43% ready for Data Engineer");
    expect(out).toContain("should first build Cloud Operations");
    expect(err).toContain("Next you could:");
    const again = await ergon(["ask", "So what is she lacking?", "--session", "amara", "--json"], here());
    expect(JSON.parse(again.out)).toMatchObject({
      success: true,
      data: {
        intermediateResults: [{ tool: "getCapabilityGaps", input: { profileId: "amara-osei" }, reused: true }, {}],
      },
    });
  });

  it("asks instead of guessing", async () => {
    await prepareVectors(join(folder.path, ".ergon"));
    const unsure = await ergon(["ask", "colour the bicycle purple"], here());
    expect(unsure).toMatchObject({ code: 3, out: expect.stringContaining("I am not sure") as string });
    const lacking = await ergon(["ask", "add two numbers for me"], here());
    expect(lacking.out).toMatch(/I need .*\bb\b/);
  });

  it("answers machines with one document, and goes on in a session", async () => {
    await prepareVectors(join(folder.path, ".ergon"));
    const first = await ergon(["ask", "greet Grace Hopper", "--session", "talk-1", "--json"], here());
    expect(JSON.parse(first.out)).toMatchObject({
      sessionId: "talk-1",
      success: true,
      data: {
        summaryMessage: "greeting: Hello, Grace Hopper!",
        plan: [{ tool: "demo::greet" }, { tool: "finalize_summary" }],
      },
    });
    const second = await ergon(["ask", "greet Ada", "--session", "talk-1", "--json"], here());
    const { data } = JSON.parse(second.out) as MCPResponse;
    expect(JSON.stringify(data?.context?.["recentMessages"])).toContain("Hello, Grace Hopper!");
    const shown = await ergon(["sessions", "show", "talk-1", "--json"], here());
    expect(shown.out).toContain("Hello, Ada!");
    expect(first.out).not.toContain("embeddedMessage");
  });

  it.each([
    ["Sleep two seconds", 0, "sleptMs: 2000"],
    ["Please add these two numbers: 10 and 20", 0, "sum: 30"],
    ["Book me a flight to Berlin and greet Carol", 0, "greeting: Hello, Carol!"],
    ["Delete all my sessions", 3, "no tool here can delete"],
    ["What can you do?", 0, "Greet"],
  ])("does what was asked, or says what it cannot: %s", async (question, code, said) => {
    await prepareVectors(join(folder.path, ".ergon"));
    const asked = await ergon(["ask", question], here());
    expect(asked).toMatchObject({ code, out: expect.stringContaining(said) as string });
  });

  it("answers with the summary that was asked for", async () => {
    await prepareVectors(join(folder.path, ".ergon"));
    const question = 'Summarize "The boat is small. The sea is wide and deep."';
    const { out, code } = await ergon(["ask", question], here());
    expect({ out, code }).toEqual({ out: "The boat is small. The sea is wide and deep.\n", code: 0 });
  });

  it("says by its exit code and in words that every tool failed, or that a part did", async () => {
    const fail = { tool: "demo::fail", args: { message: "out of paper" } };
    const none = await scripted(JSON.stringify([fail, finalize]));
    const failed = await ergon(["ask", "Print it"], here(using(none)));
    expect(failed).toMatchObject({ code: 1, err: expect.stringContaining("demo::fail: out of paper") as string });
    expect(none.asked()).toBe(1);
    const some = await scripted(JSON.stringify([fail, greet, finalize]), "Ada was greeted; printing failed.");
    const partly = await ergon(["ask", "Print it and greet Ada", "--json"], here(using(some)));
    expect(partly.code).toBe(0);
    expect(JSON.parse(partly.out)).toMatchObject({ success: true, data: { outcome: "partial" } });
    expect(JSON.stringify(some.requests[1]?.body.messages)).toContain("out of paper");
  });

  it.each([
    [["ask"], /missing required argument/i],
    [["ask", "  "], /Say what you want/],
    [["ask", "x", "--mode", "boss"], /--mode takes analyst/],
    [["ask", "x", "--session", "../x"], /cannot be a session's id/],
  ])("refuses a mistyped call: %j", async (args, message) => {
    const { err, code } = await ergon(args, here());
    expect({ code, said: message.test(err) }).toEqual({ code: 2, said: true });
  });

  it("uses the model of the settings, through the owner of the folder", async () => {
    const model = await scripted(JSON.stringify([greet, finalize]), "Ada was greeted.");
    const server = await served(using(model));
    const { out, err, code } = await ergon(["ask", "Say hello to Ada"], here());
    expect({ out, code }).toEqual({ out: "Ada was greeted.\n", code: 0 });
    expect(err).toMatch(/plan \(local\/tiny\)\n {2}1\. demo::greet \{"who":"Ada"\} I greet Ada\./);
    const sessions = (await get(server, "/sessions")) as { items?: readonly { status: string }[] };
    expect(sessions.items).toMatchObject([{ status: "completed" }]);
  });

  it("says what is wrong with the model's settings, in doctor and when it is asked", async () => {
    const env = { ERGON_MODEL: "openai/gpt-4o" };
    const doctor = await ergon(["doctor"], { cwd: folder.path, env });
    expect(doctor).toMatchObject({ code: 1, out: expect.stringContaining("needs OPENAI_API_KEY") as string });
    const asked = await ergon(["ask", "greet Ada"], { cwd: folder.path, env });
    expect(asked).toMatchObject({ code: 1, err: expect.stringContaining("needs OPENAI_API_KEY") as string });
    const offline = await ergon(["doctor"], here());
    expect(offline.out).toContain("the offline planner plans");
  });

  it("stops with Ctrl-C while the model thinks, and leaves nothing running", async () => {
    const model = await scripted({ kind: "silence" });
    const child = start(["ask", "greet Ada", "--session", "s9"], here(using(model)));
    await expect.poll(() => model.asked(), { timeout: 60_000 }).toBe(1);
    child.kill("SIGINT");
    const { code } = await finish(child);
    expect(code).toBe(130);
    const shown = await ergon(["sessions", "show", "s9", "--json"], here());
    expect(JSON.parse(shown.out)).toMatchObject({ core: { status: "cancelled" } });
  });
});

describe("POST /loop", { timeout: 120_000 }, () => {
  it("answers a turn as a durable session, with its trace", async () => {
    const model = await scripted(JSON.stringify([greet, finalize]), "Done.");
    const server = await served(using(model));
    const { status, body } = await post(server, "/loop", turn("Say hello to Ada"));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      data: {
        summaryMessage: "Done.",
        plan: [greet, finalize],
        context: { "demo::greet": { greeting: "Hello, Ada!" }, sessionId: "s1" },
        intermediateResults: [
          { tool: "demo::greet", success: true },
          { tool: "finalize_summary", success: true },
        ],
        trace: { planner: "local/tiny", status: "completed", tokens: { input: 22, output: 14 } },
      },
    });
    expect(await get(server, "/sessions/s1")).toMatchObject({
      core: { status: "completed" },
      context: { finalResponse: "Done." },
      history: [{ toolId: "demo::greet" }, { toolId: "finalize_summary" }],
    });
    const { items } = (await get(server, "/sessions/s1/trace")) as {
      items?: readonly { type: string; data: object }[];
    };
    expect(items?.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["message-received", "plan-made", "step-finished"]),
    );
    expect(items?.at(-1)).toMatchObject({
      type: "response-sent",
      data: { trace: { modelCalls: [{ purpose: "plan" }, { purpose: "finalize_summary" }] } },
    });
  });

  it("refuses what cannot be read, and keeps owners apart", async () => {
    await prepareVectors(join(folder.path, ".ergon"));
    const server = await served();
    for (const wrong of [{}, { ...turn("x"), mode: "boss" }, turn("   "), { ...turn("x"), messages: "hi" }]) {
      const { status, body } = await post(server, "/loop", wrong);
      expect({ status, found: Array.isArray(body["issues"]) }).toEqual({ status: 422, found: true });
    }
    expect((await get(server, "/sessions"))["items"]).toEqual([]);
    expect((await post(server, "/loop", turn("greet Ada"))).body.success).toBe(true);
    const { body } = await post(server, "/tokens", { name: "bo" });
    const bo = { url: server.url, token: String(body["token"]) };
    expect((await post(bo, "/loop", turn("greet Bo"))).status).toBe(404);
    expect((await get(bo, "/sessions/s1"))["status"]).toBe(404);
    expect((await post(bo, "/loop", turn("greet Bo", "bos"))).body.success).toBe(true);
  });

  it.each([
    ["prose", ["I would greet her."], "asked twice"],
    ["wrong types", [JSON.stringify([{ tool: "demo::greet", args: { who: 5 } }])], "demo::greet"],
  ] satisfies [string, Parameters<typeof startScriptedServer>[0], string][])(
    "answers a failed run when the model gives %s",
    async (_, replies, told) => {
      const server = await served(using(await scripted(...replies)));
      const { status, body } = await post(server, "/loop", turn("Say hello to Ada"));
      expect(status).toBe(200);
      expect(body).toMatchObject({ success: false, error: expect.stringContaining(told) as string });
      expect((await get(server, "/sessions/s1"))["history"]).toEqual([]);
    },
  );

  it.each([
    ["HTTP 500", [{ kind: "status", status: 500 }], "500"],
    ["429 with a long retry-after", [{ kind: "status", status: 429, retryAfterSeconds: 60 }], "429"],
    ["nothing", [{ kind: "nothing" }], "answered nothing"],
    ["an endless stream", [{ kind: "endless" }], "given up"],
  ] satisfies [string, Parameters<typeof startScriptedServer>[0], string][])(
    "lets the offline planner take over when the model gives %s, and says why",
    async (_, replies, told) => {
      await prepareVectors(join(folder.path, ".ergon"));
      const server = await served(using(await scripted(...replies)));
      const { body } = await post(server, "/loop", turn("greet Ada"));
      expect(body).toMatchObject({ success: true, data: { outcome: "answered", trace: { planner: "offline" } } });
      expect(body.data?.summaryMessage).toContain("Hello, Ada!");
      expect(body.data?.summaryMessage).toContain(told);
    },
  );

  it("repairs fenced JSON, a short 429 and unknown tools without failing", async () => {
    const fenced = `\`\`\`json\n${JSON.stringify([greet, { tool: "demo::wave", args: {} }])}\n\`\`\``;
    const model = await scripted({ kind: "status", status: 429, retryAfterSeconds: 0 }, fenced);
    const { body } = await post(await served(using(model)), "/loop", turn("Say hello to Ada"));
    expect(body).toMatchObject({
      success: true,
      data: {
        intermediateResults: [
          { tool: "demo::greet", success: true },
          { tool: "demo::wave", success: false },
        ],
      },
    });
  });
});
