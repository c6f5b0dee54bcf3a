import { describe, expect, it } from "vitest";
import { createMemoryLogger } from "../memory/logger.ts";
import { logAgentProgress } from "./log-agent-progress.ts";
import type { ProgressUpdate } from "../schema/tool.ts";

describe("an action's progress", () => {
  it("goes to the log as fields and to whoever waits as words", () => {
    const logger = createMemoryLogger();
    const heard: ProgressUpdate[] = [];
    const progress = { phase: "compare", message: "Comparing 4 capabilities", fraction: 0.5, data: { role: "r1" } };
    logAgentProgress({ logger, progress: (update) => heard.push(update) }, progress);
    expect(heard).toEqual([{ message: "Comparing 4 capabilities", fraction: 0.5 }]);
    expect(logger.entries()).toMatchObject([
      {
        level: "info",
        message: "Comparing 4 capabilities",
        fields: { phase: "compare", fraction: 0.5, data: { role: "r1" } },
      },
    ]);
  });

  it("breaks nothing, whatever breaks", () => {
    const broken = (): never => {
      throw new Error("down");
    };
    const logger = { ...createMemoryLogger(), info: broken };
    expect(() => logAgentProgress({ logger, progress: broken }, { phase: "x", message: "y" })).not.toThrow();
    expect(() => logAgentProgress({ logger, progress: broken }, undefined as never)).not.toThrow();
  });
});
