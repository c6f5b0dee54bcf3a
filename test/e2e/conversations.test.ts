import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StoredEvent } from "@ergon/core";
import type { ConversationView, Entry } from "@ergon/core/schema";
import { openSqliteConversationStore, openSqliteStateStore } from "@ergon/node";
import {
  type ScriptedRequest,
  type ScriptedServer,
  startScriptedServer,
} from "../../packages/node/src/models/scripted-server.fixture.ts";
import { DOORS, ergon, plainEnvironment, temporaryFolder } from "./ergon.ts";
import { prepareVectors } from "./prepared-vectors.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

let folder: ReturnType<typeof temporaryFolder>;
const open: { readonly stop: () => Promise<unknown> }[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const { stop } of open.splice(0).reverse()) await stop();
  folder.remove();
});

async function scripted(...replies: Parameters<typeof startScriptedServer>[0]): Promise<ScriptedServer> {
  const model = await startScriptedServer(replies);
  open.push({ stop: model.close });
  return model;
}

async function served(env: Readonly<Record<string, string>> = {}): Promise<ServedFolder> {
  const server = await serveFolder(join(folder.path, ".ergon"), { cwd: folder.path, env });
  open.push({ stop: () => server.stop("SIGTERM").catch(() => undefined) });
  return server;
}

const using = (model: ScriptedServer) => ({ ERGON_MODEL: "local/tiny", ERGON_MODEL_URL: model.url });
const call = (tool: string, args: Readonly<Record<string, unknown>>): string => JSON.stringify({ tool, args });
const promptOf = ({ body }: ScriptedRequest): string => body.messages?.at(-1)?.content ?? "";

async function ask<T>(
  { url, token }: { url: string; token: string },
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<T & { readonly status: number }> {
  const response = await fetch(new URL(path, url), {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { ...((await response.json()) as T), httpStatus: response.status, status: response.status };
}

type Receipt = { readonly conversationId: string; readonly messageId: string };

const say = (server: ServedFolder, content: string, more: object = {}): Promise<Receipt> =>
  ask<Receipt>(server, "/message", { content, ...more });

async function settled(server: ServedFolder, id: string): Promise<ConversationView> {
  return ask<ConversationView>(server, `/conversations/${id}`, undefined, { prefer: "wait=60" });
}

const kinds = (history: readonly Entry[]): readonly string[] => history.map(({ body }) => body.kind);
const answers = ({ history }: ConversationView): readonly string[] =>
  history.flatMap(({ body }) => (body.kind === "response" ? [body.content] : []));

/** What the ledger says, read from the folder that its owner has left. */
async function ledger(sessionId: string): Promise<number> {
  const store = openSqliteStateStore({ path: join(folder.path, ".ergon/state.db") });
  const { units } = await store.readEnergy({ sessionId });
  await store.close();
  return units;
}

describe("conversations over HTTP", { timeout: 120_000 }, () => {
  it("thinks, calls a tool and answers; the energy goes down by what the ledger says, and comes back when idle", async () => {
    const model = await scripted(
      { kind: "text", text: call("think", { thought: "I should greet her properly." }), delayMs: 120 },
      { kind: "text", text: call("demo::greet", { who: "Ada" }), delayMs: 120 },
      { kind: "text", text: call("respond", { content: "Hello, Ada! said the tool." }), delayMs: 120 },
    );
    const server = await served({ ...using(model), ERGON_ENERGY_RATE: "0" });
    const { conversationId: id, status } = (await say(server, "Say hello to Ada")) as Receipt & { status: number };
    expect(status).toBe(202);
    const view = await settled(server, id);
    expect(view.conversation).toMatchObject({
      state: "answered",
      thoughts: [{ text: "I should greet her properly." }],
    });
    expect(kinds(view.history)).toEqual(["message", "thought", "call", "result", "response"]);
    expect(answers(view)).toEqual(["Hello, Ada! said the tool."]);
    expect(promptOf(model.requests[2] as ScriptedRequest)).toContain("Hello, Ada!");

    const { level } = await ask<{ level: number }>(server, "/energy");
    const { energySpent } = view.conversation;
    expect(energySpent).toBeGreaterThan(0.6);
    expect(Math.round((100 - level) * 1e6)).toBe(Math.round(energySpent * 1e6));
    const told = async (): Promise<StoredEvent[]> =>
      (await ask<{ items: StoredEvent[] }>(server, `/sessions/${id}/trace`)).items;
    await expect.poll(async () => (await told()).map(({ type }) => type)).toContain("response-sent");
    const events = await told();
    expect(events.filter(({ type }) => type === "message-received" || type === "response-sent")).toHaveLength(2);
    const spent = events.filter(({ type }) => type === "energy-spent").map(({ data }) => Number(data["units"]));
    expect(Math.round(spent.reduce((sum, units) => sum + units, 0) * 1e6)).toBe(Math.round(energySpent * 1e6));
    await server.stop("SIGTERM");
    open.pop();
    expect(Math.round((await ledger(id)) * 1e6)).toBe(Math.round(energySpent * 1e6));

    const rested = await served({ ...using(model), ERGON_ENERGY_RATE: "1000" });
    await expect
      .poll(async () => (await ask<{ level: number }>(rested, "/energy")).level, { timeout: 20_000 })
      .toBe(100);
  });

  it("acts without a model on each message that comes while a tool runs", async () => {
    const server = await served();
    const { conversationId: id } = await say(server, "sleep for 1500 ms");
    await expect
      .poll(async () => kinds((await ask<ConversationView>(server, `/conversations/${id}`)).history), {
        timeout: 20_000,
      })
      .toContain("call");
    await say(server, "greet Bob", { conversationId: id });
    await say(server, "greet Carol", { conversationId: id });
    await expect
      .poll(async () => answers(await settled(server, id)), { timeout: 20_000 })
      .toEqual([
        expect.anything(),
        expect.stringContaining("Hello, Bob!") as string,
        expect.stringContaining("Hello, Carol!") as string,
      ]);
  });

  it("brainstorms: what it thought stays before its eyes, and it notices what is one-sided", async () => {
    const model = await scripted(
      call("respond", { content: "A garden, a bench." }),
      call("think", { thought: "All my ideas are outdoors: bring one for indoors." }),
      call("respond", { content: "And a reading room." }),
      (request) => {
        const seen = promptOf(request).includes("All my ideas are outdoors");
        return call("respond", { content: seen ? "I keep both sides in mind." : "I forgot." });
      },
    );
    const server = await served(using(model));
    const { conversationId: id } = await say(server, "Ideas for the office?");
    await settled(server, id);
    await say(server, "More!", { conversationId: id });
    await settled(server, id);
    await say(server, "What do you think of them?", { conversationId: id });
    expect(answers(await settled(server, id))).toEqual([
      "A garden, a bench.",
      "And a reading room.",
      "I keep both sides in mind.",
    ]);
    const last = promptOf(model.requests.at(-1) as ScriptedRequest);
    expect(last).toContain("Ideas for the office?");
    expect(last).toContain("<message>\nWhat do you think of them?\n</message>");
  });

  it("lets a short question pass a long task", async () => {
    const slow = (text: string) => ({ kind: "text", text, delayMs: 150 }) as const;
    const order: string[] = [];
    const next = (request: ScriptedRequest): string => {
      const isShort = promptOf(request).includes("<message>\nWhat time is it?");
      order.push(isShort ? "short" : "long");
      if (isShort) return call("respond", { content: "Noon." });
      return order.filter((who) => who === "long").length < 8
        ? call("think", { thought: "Still at it." })
        : call("respond", { content: "Done." });
    };
    const model = await scripted(slow(call("think", { thought: "A long task." })), next);
    const server = await served(using(model));
    const { conversationId: long } = await say(server, "Write a long report");
    await expect.poll(() => model.asked(), { timeout: 20_000 }).toBeGreaterThan(0);
    const { conversationId: short } = await say(server, "What time is it?");
    await settled(server, short);
    expect((await settled(server, long)).conversation.state).toBe("answered");
    expect(order.indexOf("short")).toBeLessThan(order.lastIndexOf("long"));
  });

  it("gives a budget of 0 one last chance to answer", async () => {
    const model = await scripted(call("demo::greet", { who: "Ada" }), (request) =>
      call("respond", { content: promptOf(request).includes("last chance") ? "In short: yes." : "?" }),
    );
    const server = await served(using(model));
    const { conversationId: insists } = await say(server, "Greet everybody", { energyBudget: 0 });
    const stubborn = await settled(server, insists);
    expect(stubborn.conversation).toMatchObject({ budgetStatus: "depleted", answers: 1 });
    expect(kinds(stubborn.history)).toEqual(["message", "response"]);
    expect(answers(stubborn)[0]).toContain("budget of 0 units is used up");
    const { conversationId: id } = await say(server, "Is it so?", { energyBudget: 0 });
    expect(answers(await settled(server, id))).toEqual(["In short: yes."]);
    expect(model.asked()).toBe(2);
  });

  it("asks the next of several models when the first cannot be asked, and a cheaper one when energy is low", async () => {
    const model = await scripted({ kind: "status", status: 401 }, call("respond", { content: "Here." }));
    const models = { ERGON_MODEL: "local/big,local/small", ERGON_MODEL_URL: model.url, ERGON_ENERGY_RATE: "0" };
    const first = await served(models);
    const askedFor = () => model.requests.map(({ body }) => body.model);
    const byOf = ({ history }: ConversationView) =>
      history.flatMap(({ body }) => (body.kind === "response" ? [body.by] : []));
    expect(byOf(await settled(first, (await say(first, "Anybody?")).conversationId))).toEqual(["local/small"]);
    expect(askedFor()).toEqual(["big", "small"]);
    expect((await ask<{ conversations: unknown }>(first, "/stats")).conversations).toMatchObject({
      planner: "local/big, local/small",
      degraded: [expect.stringContaining("local/big cannot be asked") as string],
    });
    await first.stop("SIGTERM");
    open.pop();

    const pool = openSqliteConversationStore({ path: join(folder.path, ".ergon/state.db") });
    // Less than the dear one is expected to cost.
    await pool.keepPool(new Date().toISOString(), { owner: "first", level: 3, rows: [] });
    await pool.close();
    const second = await served(models);
    expect(byOf(await settled(second, (await say(second, "Still there?")).conversationId))).toEqual(["local/small"]);
    expect(askedFor()).toEqual(["big", "small", "small"]);
  });

  it("keeps taking messages while the model is away, says so, and answers when it is back", async () => {
    const model = await startScriptedServer([call("respond", { content: "Here." })]);
    await model.close();
    const server = await served(using(model));
    const { conversationId: id } = await say(server, "Anybody there?");
    const state = async () => (await ask<ConversationView>(server, `/conversations/${id}`)).conversation.state;
    await expect.poll(state, { timeout: 30_000 }).toBe("waiting_for_model");
    const stats = await ask<{ conversations: { degraded: string[] } }>(server, "/stats");
    expect(stats.conversations.degraded.join()).toContain("local/tiny cannot be asked");
    expect((await say(server, "Hello?", { conversationId: id })).conversationId).toBe(id);
    expect((await ask(server, "/healthz")).status).toBe(200);
  });

  it("answers with no key and no network, refuses what it cannot take, and keeps owners apart", async () => {
    await prepareVectors(join(folder.path, ".ergon"));
    const server = await served();
    const waited = await ask<{ response?: { content: string; by: string } }>(
      server,
      "/message",
      { content: "greet Ada" },
      { prefer: "wait=60" },
    );
    expect(waited).toMatchObject({ status: 200, state: "answered", response: { by: "offline planner" } });
    expect(waited.response?.content).toContain("Hello, Ada!");
    expect(waited.response?.content).toContain("No model is configured");
    for (const wrong of [
      {},
      { content: " " },
      { content: "x".repeat(10_001) },
      { content: "x", energyBudget: -1 },
      { content: "x", foo: 1 },
    ])
      expect((await ask(server, "/message", wrong)).status).toBe(422);
    expect((await ask(server, "/message", { content: "x", conversationId: "nope" })).status).toBe(404);
    const { token } = await ask<{ token: string }>(server, "/tokens", { name: "bo" });
    const bo = { url: server.url, token };
    const { conversationId: id } = await say(server, "mine");
    expect((await ask(bo, `/conversations/${id}`)).status).toBe(404);
    expect((await ask(bo, `/conversations/${id}/end`, {})).status).toBe(404);
    expect((await ask<{ items: unknown[] }>(bo, "/conversations")).items).toEqual([]);
    expect((await ask<{ items: unknown[] }>(server, "/conversations")).items).toHaveLength(2);
    await settled(server, id);
    expect(await ask(server, `/conversations/${id}/end`, { reason: "done" })).toMatchObject({ state: "ended" });
    expect((await ask(server, "/message", { content: "x", conversationId: id })).status).toBe(409);
  });

  it("goes on after SIGKILL in the middle of a turn, and answers once", async () => {
    const model = await scripted(call("think", { thought: "Remember me." }), { kind: "silence" }, (request) =>
      call("respond", { content: promptOf(request).includes("Remember me.") ? "I remember." : "?" }),
    );
    const first = await served(using(model));
    const { conversationId: id } = await say(first, "Are you sure?");
    await expect.poll(() => model.asked(), { timeout: 30_000 }).toBe(2);
    await first.stop("SIGKILL");
    open.pop();
    const second = await served(using(model));
    const view = await settled(second, id);
    expect(answers(view)).toEqual(["I remember."]);
    expect(kinds(view.history)).toEqual(["message", "thought", "response"]);
    const told = async () =>
      (await ask<{ items: StoredEvent[] }>(second, `/sessions/${id}/trace`)).items.filter(
        ({ type }) => type === "response-sent" || type === "message-received",
      );
    await expect.poll(told).toHaveLength(2);
    await second.stop("SIGKILL");
    open.pop();
    const third = await served(using(model));
    expect(answers(await settled(third, id))).toHaveLength(1);
    expect(model.asked()).toBe(3);
  });
});

describe("a conversation with a server's tool", { timeout: 180_000 }, () => {
  it("asks a person before the call, goes on with the answer, and spends what the ledger says", async () => {
    const notes = join(folder.path, "notes");
    const script = join(
      import.meta.dirname,
      "../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
    );
    const files = { id: "files", name: "files", command: process.execPath, args: [script, notes], enabled: true };
    folder.write({ "notes/tea.txt": "Assam, four minutes.", "servers.json": JSON.stringify({ servers: [files] }) });
    const read = call("files_read_text_file", { path: join(notes, "tea.txt") });
    const model = await scripted(
      call("think", { thought: "The note will say." }),
      read,
      (request) => call("respond", { content: promptOf(request).includes("four minutes") ? "Four minutes." : "?" }),
      read,
      (request) => call("respond", { content: promptOf(request).includes("not now") ? "Then not." : "?" }),
    );
    const server = await served({
      ...using(model),
      MCP_CONFIG_PATH: join(folder.path, "servers.json"),
      ERGON_ENERGY_RATE: "0",
    });
    const { conversationId: id } = await say(server, "How long does the tea take?");
    const pending = async (): Promise<{ id: string; tool: string }[]> =>
      (await ask<{ items: { id: string; tool: string }[] }>(server, "/approvals?state=pending")).items;
    await expect.poll(pending, { timeout: 60_000 }).toMatchObject([{ tool: "files_read_text_file" }]);
    expect((await settled(server, id)).conversation).toMatchObject({
      state: "waiting_for_person",
      waiting: [{ kind: "approval" }],
    });
    const [first] = await pending();
    await ask(server, `/approvals/${first?.id ?? ""}`, { decision: "approve" });
    await expect.poll(async () => answers(await settled(server, id)), { timeout: 60_000 }).toEqual(["Four minutes."]);

    await say(server, "Look again", { conversationId: id });
    await expect.poll(pending, { timeout: 60_000 }).toHaveLength(1);
    const [second] = await pending();
    await ask(server, `/approvals/${second?.id ?? ""}`, { decision: "deny", feedback: "not now" });
    await expect
      .poll(async () => answers(await settled(server, id)), { timeout: 60_000 })
      .toEqual(["Four minutes.", "Then not."]);

    const { conversation } = await ask<ConversationView>(server, `/conversations/${id}`);
    const { level } = await ask<{ level: number }>(server, "/energy");
    expect(Math.round((100 - level) * 1e6)).toBe(Math.round(conversation.energySpent * 1e6));
    await server.stop("SIGTERM");
    open.pop();
    expect(Math.round((await ledger(id)) * 1e6)).toBe(Math.round(conversation.energySpent * 1e6));
  });

  it("lets a person answer within the chat", async () => {
    const notes = join(folder.path, "notes");
    const script = join(
      import.meta.dirname,
      "../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
    );
    const files = { id: "files", name: "files", command: process.execPath, args: [script, notes], enabled: true };
    folder.write({ "notes/tea.txt": "Assam.", "servers.json": JSON.stringify({ servers: [files] }) });
    const model = await scripted(call("files_read_text_file", { path: join(notes, "tea.txt") }), (request) =>
      call("respond", { content: promptOf(request).includes("Assam") ? "It is Assam." : "?" }),
    );
    const env = { ...using(model), MCP_CONFIG_PATH: join(folder.path, "servers.json") };
    const { out, err, code } = await ergon(["chat"], { cwd: folder.path, env, input: "Which tea?\nperhaps\nyes\n" });
    expect(err).toContain("files_read_text_file");
    expect(err).toContain("Answer yes, no");
    expect({ out: out.includes("It is Assam."), code }).toEqual({ out: true, code: 0 });
  });
});

describe("a conversation whose process is killed while a tool works", { timeout: 120_000 }, () => {
  const toolWith = (effects: string): string => `
import { appendFileSync, existsSync } from "node:fs";
export const definition = {
  id: "test::slow",
  description: "Takes its time.",
  parameters: { type: "object", properties: { marks: { type: "string" }, go: { type: "string" } }, required: ["marks", "go"] },
  effects: "${effects}",
};
export const implementation = async ({ marks, go }, { signal, idempotencyKey }) => {
  appendFileSync(marks, idempotencyKey + "\\n");
  while (!existsSync(go) && !signal.aborted) await new Promise((next) => setTimeout(next, 20));
  return { done: true };
};
`;

  async function killedMidCall(effects: string, ...replies: Parameters<typeof startScriptedServer>[0]) {
    folder.write({ "tools/slow.tool.js": toolWith(effects) });
    const [marks, go] = [join(folder.path, "marks"), join(folder.path, "go")];
    const model = await scripted(call("test::slow", { marks, go }), ...replies);
    const env = { ...using(model), ERGON_CAPABILITIES: join(folder.path, "tools") };
    const first = await served(env);
    const { conversationId: id } = await say(first, "Do the slow thing");
    // A file that was just made has nothing in it yet.
    const keys = (): readonly string[] =>
      existsSync(marks)
        ? readFileSync(marks, "utf8")
            .split("\n")
            .filter((key) => key !== "")
        : [];
    await expect.poll(keys, { timeout: 30_000 }).toHaveLength(1);
    await first.stop("SIGKILL");
    open.pop();
    folder.write({ go: "" });
    return { id, keys, model, second: await served(env) };
  }

  it("has it done again under the same key when that does no harm, and answers once", async () => {
    const { id, keys, model, second } = await killedMidCall("idempotent", call("respond", { content: "It is done." }));
    const view = await settled(second, id);
    expect(answers(view)).toEqual(["It is done."]);
    expect(kinds(view.history)).toEqual(["message", "call", "result", "response"]);
    expect(keys()).toHaveLength(2);
    expect(new Set(keys()).size).toBe(1);
    expect(model.asked()).toBe(2);
  });

  it("does not call it again when nobody can know what happened, and says so", async () => {
    const repeated = (request: ScriptedRequest): string => {
      const [, marks = "", go = ""] = /"marks":\s*"([^"]+)",\s*"go":\s*"([^"]+)"/.exec(promptOf(request)) ?? [];
      return call("test::slow", { marks, go });
    };
    const { id, keys, second } = await killedMidCall("once", repeated, call("respond", { content: "I do not know." }));
    const view = await settled(second, id);
    expect(answers(view)).toEqual(["I do not know."]);
    expect(view.history.flatMap(({ body }) => (body.kind === "result" ? [body.text] : []))).toEqual([
      expect.stringContaining("It may have been done, and is not called again") as string,
      expect.stringContaining("is not made again") as string,
    ]);
    expect(keys()).toHaveLength(1);
  });
});

describe("ergon chat and ergon energy", { timeout: 120_000 }, () => {
  it("talks from a pipe, line by line, and remembers", async () => {
    await prepareVectors(join(folder.path, ".ergon"));
    const named = ["--data", ".ergon"];
    const input = "greet Ada\n/energy\ngreet Bo\n";
    const { out, code } = await ergon(["chat", ...named], { cwd: folder.path, input });
    expect(code).toBe(0);
    expect(out).toContain("Hello, Ada!");
    expect(out).toContain("Hello, Bo!");
    const energy = await ergon(["energy", "--json", ...named], { cwd: folder.path });
    expect(JSON.parse(energy.out)).toMatchObject({ status: "high", conversations: { waiting: 0 } });
    expect((await ergon(["energy", ...named], { cwd: folder.path })).out).toMatch(/█.* high/);
  });

  const CLEARED = "\r\u001B[K";
  const onTerminal = (args: string) => {
    const command = [process.execPath, DOORS.built, "chat", "--data", ".ergon", args].join(" ");
    const env = { ...plainEnvironment(), HOME: folder.path };
    const child = spawn("script", ["-qec", command, "/dev/null"], { cwd: folder.path, env });
    let shown = "";
    child.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()));
    return {
      shown: () => shown,
      until: async (part: string) => {
        await expect.poll(() => shown, { timeout: 30_000 }).toContain(part);
      },
      type: (text: string) => child.stdin.write(text),
      closed: once(child, "close"),
    };
  };

  it.runIf(process.platform === "linux")(
    "says on leaving what goes on and how to come back, and then shows what was said",
    async () => {
      await prepareVectors(join(folder.path, ".ergon"));
      const first = onTerminal("");
      await first.until("›");
      first.type("greet Ada\r");
      await first.until("Hello, Ada!");
      first.type("sleep for 20000 ms\r");
      await first.until("using demo::sleep");
      first.type("\u0003");
      await first.closed;
      const [, id = "?"] = /ergon chat --conversation (\S+)/.exec(first.shown()) ?? [];
      expect(first.shown()).toContain("goes on when Ergon runs again");
      const second = onTerminal(`--conversation ${id}`);
      await second.until("sleep for 20000 ms");
      for (const said of ["greet Ada", "Hello, Ada!"]) expect(second.shown()).toContain(said);
      await second.until("›");
      second.type("\u0004");
      await second.closed;
      // The prompt's line is cleared, and nothing stands before the shell's own prompt.
      const [, after = "?"] = second.shown().split(/›(?=[^›]*$)/);
      expect(after).toContain(CLEARED);
      expect(after).toMatch(/ergon chat --conversation \S+\r\n/);
    },
  );

  it.runIf(process.platform === "linux")("leaves no prompt behind when nothing was said", async () => {
    const talk = onTerminal("");
    await talk.until("›");
    talk.type("/help\r");
    await talk.until("/quit");
    talk.type("\u0004");
    await talk.closed;
    expect(talk.shown().endsWith(CLEARED)).toBe(true);
    const help = talk
      .shown()
      .replaceAll(CLEARED, "\r\n")
      .split("\r\n")
      .filter((line) => /^\/(energy|list|new|end|quit) /.test(line));
    expect(new Set(help.map((line) => /^\S+( \[why\])? +/.exec(line)?.[0].length))).toHaveLength(1);
    expect(help).toHaveLength(5);
  });

  it("speaks JSON lines to machines, works through the owner, and refuses what is mistyped", async () => {
    const model = await scripted(call("respond", { content: "Good day." }));
    const server = await served(using(model));
    const { out } = await ergon(["chat", "--json", "--budget", "20"], { cwd: folder.path, input: "Hello\n" });
    const lines = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; conversationId: string });
    expect(lines).toMatchObject([{ kind: "message" }, { kind: "response", content: "Good day.", by: "local/tiny" }]);
    const view = await ask<ConversationView>(server, `/conversations/${lines[0]?.conversationId ?? ""}`);
    expect(view.conversation).toMatchObject({ energyBudget: 20, budgetStatus: "within" });
    expect((await ergon(["chat", "--budget", "much"], { cwd: folder.path })).code).toBe(2);
    expect((await ergon(["chat", "--conversation", "nope"], { cwd: folder.path })).code).toBe(2);
  });
});
