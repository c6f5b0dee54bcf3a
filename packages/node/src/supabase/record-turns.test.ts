import { type ConversationMemory, createConversationMemory, createMemoryLogger } from "@ergon/core/store-kit";
import type { SupabaseLike } from "@ergon/core/planner";
import { expect, it } from "vitest";
import { createTurnRecorder, MAX_WAITING_WRITES } from "./record-turns.ts";

const result = { tool: "t", input: {}, output: 1, success: true };

it("drops what a project that never answers cannot take, with a warning, and keeps no turn waiting", async () => {
  const logger = createMemoryLogger();
  let asked = 0;
  const silent = {
    from: () => {
      asked += 1;
      return { upsert: () => new Promise(() => undefined) };
    },
    rpc: () => undefined,
  } as unknown as SupabaseLike;
  const { actions } = createTurnRecorder(silent, logger);
  for (let at = 0; at < MAX_WAITING_WRITES; at += 1) actions("s", [result]);
  await Promise.resolve();
  expect({ asked, logged: logger.entries() }).toEqual({ asked: 1, logged: [] });
  actions("s", [result]);
  expect(logger.entries()).toMatchObject([{ level: "warn", fields: { table: "agent_actions" } }]);
});

it("appends to the program's own memory also where the project refuses", async () => {
  const logger = createMemoryLogger();
  const refusing = {
    from: () => ({ upsert: () => Promise.resolve({ data: null, error: { message: "no such table" } }) }),
    rpc: () => undefined,
  } as unknown as SupabaseLike;
  const recorder = createTurnRecorder(refusing, logger);
  const memory: ConversationMemory = recorder.around(createConversationMemory());
  await memory.append({ owner: "o", sessionId: "s", messages: [{ role: "user", content: "hello", at: "2026" }] });
  await recorder.flush();
  const query = { owner: "o", sessionId: "s", recentLimit: 5, matchLimit: 5, minSimilarity: 0 };
  expect((await memory.load(query)).recentMessages).toMatchObject([{ content: "hello" }]);
  expect(logger.entries()).toMatchObject([
    { level: "warn", fields: { error: { message: expect.stringContaining("no such table") as string } } },
  ]);
});
