import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isErgonError, silentLogger } from "@ergon/core";
import { MAX_QUESTIONS, type GivenAnswer, type Question } from "@ergon/core/schema";
import type { McpConnection } from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createMcpConnector } from "../connection/connector.ts";
import { createOpenCalls, MAX_KEPT_MS, MAX_OPEN_CALLS, MAX_UNHEARD_OUTCOMES } from "./open-calls.ts";
import { createQuestions } from "./questions.ts";

vi.setConfig({ testTimeout: 60_000 });
const form = (name: string) => ({
  message: `What is your ${name}?`,
  requestedSchema: { type: "object", properties: { [name]: { type: "string" } }, required: [name] },
});
let folder: string;
const closing: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-open-calls-"));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(folder, { recursive: true });
});

/** A server on a busy machine asks its question within this time. */
const ASKED_WITHIN_MS = 2_000;

describe("a call that may be made once, whose server asks in the middle of it", () => {
  it("stays open while a person is asked, and goes on with the answer (O1)", async () => {
    const connection = await opened();
    const asked = await questionOf(charge(connection, []));
    expect(asked.message).toBe("What is your name?");
    const result = await charge(connection, [{ key: asked.key, input: { name: "Ada" } }]);
    expect(JSON.stringify(result)).toContain("Ada");
    expect(charged()).toBe(1);
  });

  it("says how long the answer is waited for", async () => {
    const failure = await failureOf(charge(await opened(), []));
    expect(failure.message).toMatch(/name\?.*an hour at most and as long as Ergon runs.*outcome.*unknown/);
  });

  it("is not made again by another process: its outcome is unknown", async () => {
    const { key } = await questionOf(charge(await opened(), []));
    const another = await opened();
    const failure = await failureOf(charge(another, [{ key, input: { name: "Ada" } }]));
    expect(failure).toMatchObject({ code: "outcome_unknown" });
    expect(charged()).toBe(1);
  });

  it("is made again with the answer under another name, which is what a person's retry gives it", async () => {
    const { key } = await questionOf(charge(await opened(), []));
    const result = await charge(await opened(), [{ key, input: { name: "Ada" } }], { once: "the retry" });
    expect(JSON.stringify(result)).toContain("Ada");
    expect(charged()).toBe(2);
  });

  it("outlives the time limit while a person is asked, and only then (O2)", async () => {
    const connection = await opened();
    const { key } = await questionOf(charge(connection, [], { timeoutMs: ASKED_WITHIN_MS }));
    await new Promise((resolve) => setTimeout(resolve, 1.5 * ASKED_WITHIN_MS));
    const result = await charge(connection, [{ key, input: { name: "Ada" } }]);
    expect(JSON.stringify(result)).toContain("Ada");
    const silent = connection.call({ name: "silent", args: {}, answers: [], once: "silent", timeoutMs: 300 });
    expect(await failureOf(silent)).toMatchObject({ code: "answer_lost" });
  });

  it("has the result that its server came to without waiting for the answer (O3)", async () => {
    const connection = await opened();
    const { key } = await questionOf(charge(connection, [], { name: "impatient" }));
    await new Promise((resolve) => setTimeout(resolve, 600));
    const result = await charge(connection, [{ key, input: { name: "Ada" } }], { name: "impatient" });
    expect(JSON.stringify(result)).toContain("enough");
    expect(charged()).toBe(1);
  });

  it("has an unknown outcome when its server falls meanwhile", async () => {
    const connection = await opened();
    const { key } = await questionOf(charge(connection, []));
    await failureOf(connection.call({ name: "crash", args: {} }));
    const failure = await failureOf(charge(connection, [{ key, input: { name: "Ada" } }]));
    expect(failure).toMatchObject({ code: "answer_lost" });
    expect(charged()).toBe(1);
  });

  it("ends when whoever waits for it gives it up", async () => {
    const connection = await opened();
    const gaveUp = new AbortController();
    const silent = connection.call({
      name: "silent",
      args: {},
      answers: [],
      once: "silent",
      signal: gaveUp.signal,
    });
    setTimeout(() => gaveUp.abort(), 100);
    await expect(silent).rejects.toBeDefined();
    // Over a pipe a question is told apart from others only when one call is under way.
    expect((await questionOf(charge(connection, []))).message).toBe("What is your name?");
  });
});

describe("open calls", () => {
  it("are forgotten in an hour", async () => {
    vi.useFakeTimers();
    try {
      const inputRequired = ({ key }: Question) => Object.assign(new Error("?"), { key });
      const calls = createOpenCalls({ serverId: "s", inputRequired });
      const never = new AbortController().signal;
      const begin = async (name: string): Promise<GivenAnswer[]> => {
        const asking = calls.begin(name, undefined, async (open) => {
          const input = await open.ask({ key: "k", message: "?" }, never);
          return { content: [], structuredContent: input, isError: false };
        });
        const { key } = await asking.then(
          () => ({ key: "" }),
          (thrown: unknown) => thrown as { key: string },
        );
        return [{ key, input: 1 }];
      };
      const [first, second] = [await begin("first"), await begin("second")];
      vi.advanceTimersByTime(MAX_KEPT_MS - 1);
      expect(await calls.goOn("first", undefined, first)).toMatchObject({ structuredContent: 1 });
      vi.advanceTimersByTime(1);
      await expect(calls.goOn("second", undefined, second)).rejects.toMatchObject({ code: "outcome_unknown" });
    } finally {
      vi.useRealTimers();
    }
  });

  it(`ask ${String(MAX_QUESTIONS)} questions at most; what they ask beyond is declined and told`, async () => {
    const questions = createQuestions({ serverId: "s", note: () => undefined });
    const elicit = () => questions.elicit(form("name") as never, new AbortController().signal);
    const answers: GivenAnswer[] = [];
    const make = () =>
      questions.call({ name: "t", args: {}, once: "c", answers: [...answers] }, async (asking) => {
        const call = async () => {
          const given = [];
          while (given.length <= MAX_QUESTIONS) given.push((await elicit()).action);
          return { content: [{ type: "text" as const, text: given.join() }] };
        };
        return { ...(await questions.during(asking, { era: "legacy", options: {}, call })), isError: false };
      });
    for (let asked = 0; asked < MAX_QUESTIONS; asked += 1) {
      const { key } = await questionOf(make());
      answers.push({ key, input: { name: "Ada" } });
    }
    const [said] = (await make()).content;
    expect(said?.text).toMatch(/^(accept,){8}decline\n\n\[.*more than a call may ask/);
  });

  it(`that have ended are kept until somebody asks, ${String(MAX_UNHEARD_OUTCOMES)} of them, and a name is used once`, async () => {
    const calls = createOpenCalls({
      serverId: "s",
      inputRequired: ({ key }) => Object.assign(new Error("?"), { key }),
    });
    const never = new AbortController().signal;
    const keys: string[] = [];
    for (let at = 0; at <= MAX_UNHEARD_OUTCOMES; at += 1) {
      let end = (): void => undefined;
      const name = `call ${String(at)}`;
      const asked = await calls
        .begin(name, undefined, async (open) => {
          await Promise.race([
            open.ask({ key: "k", message: "?" }, never),
            new Promise<void>((resolve) => (end = resolve)),
          ]);
          return { content: [], structuredContent: { at }, isError: false };
        })
        .catch((thrown: unknown) => (thrown as { key: string }).key);
      keys.push(asked as string);
      await expect(calls.begin(name, undefined, () => Promise.reject(new Error("sent twice")))).rejects.toMatchObject({
        code: "outcome_unknown",
      });
      end();
      await new Promise((resolve) => setImmediate(resolve));
    }
    const heard = (at: number) => calls.goOn(`call ${String(at)}`, undefined, [{ key: keys[at] ?? "", input: 1 }]);
    await expect(heard(0)).rejects.toMatchObject({ code: "outcome_unknown" });
    for (const at of [1, MAX_UNHEARD_OUTCOMES]) expect(await heard(at)).toMatchObject({ structuredContent: { at } });
  });

  it(`are ${String(MAX_OPEN_CALLS)} at most, and one that is over makes room`, async () => {
    const calls = createOpenCalls({
      serverId: "s",
      inputRequired: ({ key }) => Object.assign(new Error("?"), { key }),
    });
    const never = new AbortController().signal;
    const room: boolean[] = [];
    const ends: (() => void)[] = [];
    const begin = (name: string): Promise<unknown> =>
      calls
        .begin(name, undefined, async (open) => {
          room.push(open.hasRoom());
          if (!open.hasRoom()) return { content: [], isError: false };
          const over = new Promise<void>((resolve) => ends.push(resolve));
          await Promise.race([open.ask({ key: "k", message: "?" }, never), over]);
          return { content: [], isError: false };
        })
        .catch(() => undefined);
    for (let at = 0; at < MAX_OPEN_CALLS; at += 1) await begin(`call ${String(at)}`);
    expect(room).toEqual(Array.from({ length: MAX_OPEN_CALLS }, () => true));
    await begin("one more");
    expect(room.at(-1)).toBe(false);
    ends[0]?.();
    await new Promise((resolve) => setImmediate(resolve));
    await begin("another");
    expect(room.at(-1)).toBe(true);
  });
});

function charged(): number {
  return readFileSync(join(folder, "charged"), "utf8").trim().split("\n").length;
}

type Changes = { readonly name?: string; readonly once?: string; readonly timeoutMs?: number };

function charge(connection: McpConnection, answers: readonly GivenAnswer[], changes: Changes = {}): Promise<unknown> {
  return connection.call({ name: "charge", once: "s:1", args: form("name"), answers, ...changes });
}

async function failureOf(work: Promise<unknown>): Promise<Error & { readonly details?: unknown }> {
  const thrown: unknown = await work.then(
    (result) => new Error(`It answered ${JSON.stringify(result)}.`),
    (error: unknown) => error,
  );
  expect(isErgonError(thrown), String(thrown)).toBe(true);
  return thrown as Error;
}

async function questionOf(work: Promise<unknown>): Promise<Question> {
  const failure = await failureOf(work);
  expect(failure).toMatchObject({ code: "input_required" });
  return failure.details as Question;
}

async function opened(): Promise<McpConnection> {
  const connector = createMcpConnector({ logger: silentLogger });
  const args = [join(import.meta.dirname, "../hostile-server.fixture.ts"), "charges", join(folder, "charged")];
  const config = { id: "shop", name: "shop", enabled: true, command: process.execPath, args };
  const connection = connector.open({ config, secrets: [], onChange: () => undefined });
  closing.push(connection.stop);
  connection.start();
  await connection.settled();
  return connection;
}
