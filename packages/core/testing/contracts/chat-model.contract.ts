import { afterEach, describe, expect, it } from "vitest";
import type { ChatModel } from "../../src/ports/chat-model.ts";
import type { ScriptedReply } from "../scripted-model.ts";

export type OpenedModel = {
  readonly model: ChatModel;
  readonly asked: () => number;
  readonly close: () => Promise<void>;
};

const QUESTION = [{ role: "user", content: "Well?" }] as const;

/** What every ChatModel must do. `open` gives one whose service follows the script, and which retries without long waits. */
export function chatModelContract(
  name: string,
  open: (replies: readonly ScriptedReply[]) => Promise<OpenedModel>,
): void {
  const opened: OpenedModel[] = [];
  const fresh = async (...replies: readonly ScriptedReply[]): Promise<OpenedModel> => {
    const made = await open(replies);
    opened.push(made);
    return made;
  };
  const ask = (model: ChatModel, timeoutMs = 20_000) => model.generate({ messages: [...QUESTION], timeoutMs });

  describe(`the chat model contract: ${name}`, () => {
    afterEach(async () => {
      for (const { close } of opened.splice(0)) await close();
    });

    it("gives the reply's text, its model and its tokens (M3)", async () => {
      const { model } = await fresh({ kind: "text", text: "Sixty words.", outputTokens: 3 });
      const reply = await ask(model);
      expect(reply.text).toBe("Sixty words.");
      expect(reply.model).not.toBe("");
      expect(reply.usage.inputTokens).toBeGreaterThan(0);
      expect(reply.usage.outputTokens).toBe(3);
      expect(model.id).toMatch(/.+\/.+/);
    });

    it("returns what came, whatever schema was wished for (M4)", async () => {
      const { model } = await fresh({ kind: "text", text: "no JSON at all" });
      const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
      const reply = await model.generate({ messages: [...QUESTION], schema });
      expect(reply.text).toBe("no JSON at all");
    });

    it.each([
      [{ kind: "nothing" }, "model_answer_invalid"],
      [{ kind: "status", status: 500 }, "model_unavailable"],
      [{ kind: "status", status: 429, retryAfterSeconds: 0 }, "model_rate_limited"],
      [{ kind: "status", status: 401 }, "model_refused"],
      [{ kind: "status", status: 400 }, "model_refused"],
    ] satisfies [ScriptedReply, string][])("says what went wrong: %j is %s (M2)", async (reply, code) => {
      const { model } = await fresh(reply);
      await expect(ask(model)).rejects.toMatchObject({ name: "ErgonError", code });
    });

    it.each([{ kind: "silence" }, { kind: "endless" }] satisfies ScriptedReply[])(
      "settles in time though the service does not: %j (M1)",
      async (reply) => {
        const { model } = await fresh(reply);
        await expect(ask(model, 1_000)).rejects.toMatchObject({
          code: expect.stringMatching(/^model_(timeout|answer_invalid)$/) as string,
        });
      },
    );

    it("stops at once when nobody waits any longer (M1)", async () => {
      const { model } = await fresh({ kind: "silence" });
      const stop = new AbortController();
      const waiting = model.generate({ messages: [...QUESTION], signal: stop.signal });
      setTimeout(() => stop.abort(), 50);
      await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
      await expect(model.generate({ messages: [...QUESTION], signal: stop.signal })).rejects.toMatchObject({
        code: "cancelled",
      });
    });
  });
}
