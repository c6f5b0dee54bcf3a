import type { StoredEvent } from "@ergon/core";
import { describe, expect, it } from "vitest";
import { tellCall, tellSteps } from "./follow-progress.ts";

const event = (type: string, data: Readonly<Record<string, unknown>> = {}) =>
  ({ type, data: { stepId: "call", ...data } }) as unknown as StoredEvent;
const progressed = (data: Readonly<Record<string, unknown>>) => event("step-progressed", data);

describe("progress that a client is told", () => {
  it("counts what happens in a plan, and says what a step says of itself", () => {
    const tell = tellSteps();
    const events = [event("step-started"), event("session-paused"), progressed({ fraction: 0.015 })];
    expect(events.map(tell)).toEqual([
      { progress: 1, message: "call started" },
      undefined,
      { progress: 2, message: "call: 1.5 %" },
    ]);
    expect(tell(progressed({ fraction: 0.5, message: "half" }))).toMatchObject({ message: "call: 50 %, half" });
    expect(tell(progressed({ message: "more" }))).toMatchObject({ progress: 4, message: "call: more" });
  });

  it("is the tool's own for a single call", () => {
    const tell = tellCall();
    expect(tell(event("step-started"))).toBeUndefined();
    expect(tell(progressed({ fraction: 0.01, message: "row 1" }))).toEqual({
      progress: 1,
      total: 100,
      message: "row 1",
    });
    expect(tell(progressed({ fraction: 0.07 }))).toEqual({ progress: 7, total: 100 });
    expect(tell(progressed({ message: "thinking" }))).toEqual({ progress: 8, message: "thinking" });
  });

  it("never goes back", () => {
    const tell = tellCall();
    const told = [0.5, 0.4, 0.5, 0.6].map((fraction) => tell(progressed({ fraction })));
    expect(told.map((one) => one?.progress)).toEqual([50, undefined, undefined, 60]);
  });
});
