import { describe, expect, it } from "vitest";
import { SECRET_SAMPLES } from "../../../testing/secret-samples.ts";
import { createSimulatedClock } from "../../../testing/simulated-clock.ts";
import { createTrace, MAX_TRACED_TEXT } from "./trace.ts";

describe("the trace of a turn", () => {
  it.each(SECRET_SAMPLES)(
    "has no credentials in prompts, replies, errors, warnings and facts: $issuer, $text",
    (sample) => {
      const { text, secret } = sample;
      const trace = createTrace(createSimulatedClock(), { planner: text });
      trace.modelCall({
        purpose: "plan",
        model: "m",
        ms: 1,
        prompt: `a ${text}`,
        reply: `b ${text}`,
        error: `c ${text}`,
      });
      trace.modelCall({
        purpose: "plan",
        model: "m",
        ms: 1,
        prompt: `${"x ".repeat(MAX_TRACED_TEXT / 2 - 2)} ${text}`,
      });
      trace.warn({ code: "odd", message: `d ${text}` });
      trace.set({ error: { message: `e ${text}` } });
      const step = { stepId: "s", tool: "t", success: false, startedAt: "", ms: 1, energyUnits: 0 };
      trace.step({ ...step, error: `f ${text}` });
      expect(JSON.stringify(trace.value())).not.toContain(JSON.stringify(secret).slice(1, -1));
      expect(trace.value()).toMatchObject({ steps: [{ error: expect.stringContaining("f ") as string }] });
    },
  );
});
