import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callStep, createEngineWorld, planOf, type EngineWorld } from "../../../testing/engine/engine-world.ts";
import { gateError } from "../../errors/gate.ts";
import { silentLogger } from "../../memory/logger.ts";
import type { Json } from "../../schema/values/json.ts";
import { MAX_QUESTIONS, type GivenAnswer } from "../../schema/question.ts";
import type { ToolRun } from "../../tools/tool.ts";
import { createEngine } from "./engine.ts";

const at = { owner: "me", sessionId: "s" };
const plans = { get: () => undefined, ids: () => [] };
const name = { key: "name", message: "What is your name?", inputSchema: { type: "object", required: ["name"] } };
let world: EngineWorld;
let seen: { readonly answers: readonly GivenAnswer[] | undefined; readonly key: string }[];

beforeEach(() => {
  world = createEngineWorld();
  seen = [];
});
afterEach(() => world.close());

describe.each(["pure", "read", "once"] as const)("a tool of effects %s that has to ask a person", (effects) => {
  it("pauses its session with the question, and is called again with the answer under the same key", async () => {
    add(effects, asksFor(name));
    const waiting = await begun();
    expect(waiting).toMatchObject({
      status: "paused_on_human",
      waiting: [{ stepId: "a", kind: "human", message: "What is your name?", inputSchema: name.inputSchema }],
    });
    await world.engine.resume({ ...at, input: { name: "Ada" } });
    expect(await world.engine.settled(at)).toMatchObject({ status: "completed", waiting: [] });
    const { context, history } = await world.engine.readSession(at);
    expect(context["finalResponse"]).toEqual({ name: "Ada" });
    expect(history).toHaveLength(1);
    expect(seen.map(({ answers }) => answers)).toEqual([[], [{ key: "name", input: { name: "Ada" } }]]);
    expect(new Set(seen.map(({ key }) => key)).size).toBe(1);
  });

  it("is in the history of a session that is cancelled meanwhile, as something that may have begun", async () => {
    add(effects, asksFor(name));
    await begun();
    expect((await world.engine.cancel(at)).status).toBe("cancelled");
    const { history } = await world.engine.readSession(at);
    expect(history).toMatchObject([{ result: { error: { code: "outcome_unknown" } } }]);
  });

  it("waits through a restart", async () => {
    add(effects, asksFor(name));
    await begun();
    await world.engine.close();
    const second = createEngine({ ...world, plans, logger: silentLogger });
    void second.recover();
    expect(await second.settled(at)).toMatchObject({ status: "paused_on_human", waiting: [{ kind: "human" }] });
    await second.resume({ ...at, input: { name: "Ada" } });
    expect((await second.settled(at)).status).toBe("completed");
    expect((await second.readSession(at)).context["finalResponse"]).toEqual({ name: "Ada" });
    await second.close();
  });
});

describe("a question of a tool", () => {
  it("can be left unanswered, if the person says so", async () => {
    add("once", asksFor(name));
    await begun();
    await world.engine.resume({ ...at, input: null });
    await world.engine.settled(at);
    expect((await world.engine.readSession(at)).context["finalResponse"]).toBeNull();
  });

  it.each([undefined, {}, "Ada"])("is not answered with %s, and stays open", async (input) => {
    add("once", asksFor(name));
    await begun();
    const answer = world.engine.resume({ ...at, ...(input === undefined ? {} : { input }) });
    await expect(answer).rejects.toMatchObject({ code: "resume_input_invalid", message: /: an object with "name"\.$/ });
    expect((await world.engine.readSession(at)).core.waiting).toHaveLength(1);
    expect(seen).toHaveLength(1);
  });

  it("that sends the person to an address is answered by going on", async () => {
    add("once", asksFor({ key: "go", message: "Go there.", url: "https://x.example/" }));
    await begun();
    await world.engine.resume(at);
    await world.engine.settled(at);
    expect((await world.engine.readSession(at)).context["finalResponse"]).toBe(true);
  });

  it.each([
    [MAX_QUESTIONS, "completed"],
    [MAX_QUESTIONS + 1, "paused_on_error"],
  ])("may follow others: after %i the session is %s", async (count, status) => {
    add("read", ({ answers = [] }) => {
      if (answers.length < count) throw asked({ key: `q${String(answers.length)}`, message: "And?" });
      return answers.length;
    });
    await begun();
    for (let round = 0; round < MAX_QUESTIONS; round += 1) {
      await world.engine.resume({ ...at, input: round });
      await world.engine.settled(at);
    }
    expect((await world.engine.readSession(at)).core.status).toBe(status);
  });

  it.each([
    ["outcome_unknown", undefined, [{ key: "name", input: { name: "Ada" } }]],
    ["outcome_unknown", {}, []],
    ["tool_failed", undefined, []],
  ] as const)(
    "has its answer again in a person's retry after %s with arguments %j: %j",
    async (code, args, answers) => {
      add("once", ({ answers: given = [] }) => {
        if (seen.length === 1) throw asked(name);
        if (seen.length === 2) throw gateError(code, "It went wrong.");
        return given.length;
      });
      await begun();
      await world.engine.resume({ ...at, input: { name: "Ada" } });
      expect(await world.engine.settled(at)).toMatchObject({ status: "paused_on_error", lastError: { code } });
      await world.engine.resume({
        ...at,
        input: { action: "retry", ...(args === undefined ? {} : { arguments: args }) },
      });
      await world.engine.settled(at);
      expect(seen[2]).toMatchObject({ answers });
      expect(seen[2]?.key).not.toBe(seen[1]?.key);
    },
  );

  it("without a question in it is a failure like any other", async () => {
    add("read", () => {
      throw gateError("input_required", "What?");
    });
    expect(await begun()).toMatchObject({ status: "paused_on_error", lastError: { code: "tool_failed" } });
  });
});

type Asked = Parameters<typeof asked>[0];

function asksFor(question: Asked): (run: ToolRun) => unknown {
  return ({ answers }) => {
    const given = answers?.find(({ key }) => key === question.key);
    if (given === undefined) throw asked(question);
    return given.input;
  };
}

function asked(question: { readonly key: string; readonly message: string } & Readonly<Record<string, Json>>): Error {
  return gateError("input_required", question.message, { details: question });
}

function add(effects: "pure" | "read" | "once", run: (run: ToolRun) => unknown): void {
  const definition = { id: "probe::ask", description: "Asks.", parameters: { type: "object" }, effects } as const;
  const implementation = async (_: unknown, given: ToolRun) => {
    seen.push({ answers: given.answers, key: given.idempotencyKey });
    return run(given);
  };
  world.registry.register({ definition, implementation });
}

async function begun(): Promise<Awaited<ReturnType<typeof world.engine.settled>>> {
  const plan = planOf("p", [
    { ...callStep("a", "probe::ask", {}, "f"), saveAs: "r" } as never,
    { id: "f", type: "final_response", message: { jsonPath: "$.context.r" } },
  ]);
  await world.engine.executePlan({ ...at, plan, create: true });
  return world.engine.settled(at);
}
