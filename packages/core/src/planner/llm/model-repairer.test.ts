import { describe, expect, it } from "vitest";
import { argumentRepairerContract } from "../../../testing/contracts/argument-repairer.contract.ts";
import { createScriptedModel, type ScriptedReply } from "../../../testing/scripted-model.ts";
import { createModelRepairer } from "./model-repairer.ts";

argumentRepairerContract("a model's", () => createModelRepairer({ model: createScriptedModel(['{"days": 3}']) }));

describe("a model that repairs arguments", () => {
  const request = {
    toolId: "trip",
    description: "Plans a trip.",
    parameters: { type: "object", properties: { days: { type: "integer" } }, required: ["days"] },
    args: { days: "three" },
    error: { code: "args_invalid", message: "days: expected a number", retryable: false },
    signal: new AbortController().signal,
  };
  const repair = (reply: ScriptedReply | string) => {
    const model = createScriptedModel([reply]);
    return { model, answer: createModelRepairer({ model }).repair(request) };
  };

  it.each(['{"days":3}', '```json\n{"days": 3}\n```', 'Sure: {"days": 3}.'])("is read from %j", async (reply) => {
    const { model, answer } = repair(reply);
    expect(await answer).toEqual({ days: 3 });
    const prompt = model.requests[0]?.messages.map(({ content }) => content).join("\n");
    expect(prompt).toContain("expected a number");
  });

  it.each([
    "I cannot.",
    "{}",
    "[1]",
    '{"days":"three"}',
    { kind: "status", status: 500 },
    { kind: "nothing" },
  ] satisfies (string | ScriptedReply)[])("has nothing better to offer with %j", async (reply) => {
    expect(await repair(reply).answer).toBeUndefined();
  });

  it("stops when nobody waits", async () => {
    const stop = new AbortController();
    const repairing = createModelRepairer({ model: createScriptedModel([{ kind: "silence" }]) }).repair({
      ...request,
      signal: stop.signal,
    });
    stop.abort();
    await expect(repairing).rejects.toMatchObject({ code: "cancelled" });
  });
});
