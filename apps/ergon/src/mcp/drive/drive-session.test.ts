import type { Engine, ResumeSession } from "@ergon/core/engine";
import { createEngineWorld, planOf } from "@ergon/core/testing";
import { expect, it } from "vitest";
import { driveSession, reportSession } from "./drive-session.ts";
import type { McpWorkspace, WithOwner } from "./with-owner.ts";
import type { McpCall } from "../host/surface.ts";

it("An answer from a client's form never accepts a correction, even where the client may approve.", async () => {
  const world = createEngineWorld();
  const resumed: ResumeSession[] = [];
  const engine: Engine = {
    ...world.engine,
    resume: (given) => {
      resumed.push(given);
      return world.engine.resume(given);
    },
  };
  const reach: WithOwner = (_, work) => work({ engine } as McpWorkspace);
  const ref = { owner: "me", sessionId: "s" };
  let remembered: unknown;
  const round = (answers: McpCall["answers"]) => {
    const call = {
      owner: "me",
      signal: new AbortController().signal,
      canAsk: true,
      mayApprove: () => true,
      answers,
      remembered: () => remembered,
      remember: (value: unknown) => Promise.resolve(JSON.stringify((remembered = value))),
      wantsProgress: false,
    } as unknown as McpCall;
    const begin = async (): Promise<typeof ref> => {
      const inputSchema = { type: "object", properties: { pass: { type: "boolean" } } };
      const plan = planOf("p", [{ id: "ask", type: "human_in_the_loop", message: "Pass?", inputSchema }]);
      await world.engine.executePlan({ ...ref, plan, create: true });
      return ref;
    };
    return driveSession(reach, call, { tool: "run_plan", args: {}, begin, report: reportSession });
  };
  try {
    await round(undefined);
    await round({ answer: { action: "accept", content: { pass: true } } });
    expect(resumed).toMatchObject([{ ...ref, step: "ask", input: { pass: true }, mayApprove: false }]);
  } finally {
    await world.close();
  }
});
