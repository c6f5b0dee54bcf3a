import { describe, expect, it } from "vitest";
import type { ArgumentRepair, ArgumentRepairer } from "../../src/ports/argument-repairer.ts";
import { jsonProblem, type JsonObject } from "../../src/schema/values/json.ts";

/** What every ArgumentRepairer must do, whether its answers help or not. */
export function argumentRepairerContract(name: string, open: () => Promise<ArgumentRepairer> | ArgumentRepairer): void {
  const request = (args: JsonObject): ArgumentRepair => ({
    toolId: "test::count",
    description: "Counts.",
    parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
    args,
    error: { code: "args_invalid", message: "n: It must be integer.", retryable: false },
    signal: new AbortController().signal,
  });

  describe(`the argument repairer contract: ${name}`, () => {
    it.each([[{ n: "5" }], [{ n: 5 }], [{}], [{ m: { deep: ["x", null] } }]] as const)(
      "leaves %j as it is, and answers an object or nothing (A1, A2)",
      async (args) => {
        const asked = request(args);
        const before = JSON.stringify(asked);
        const repaired = await (await open()).repair(asked);
        expect(JSON.stringify(asked)).toBe(before);
        if (repaired === undefined) return;
        expect(jsonProblem(repaired)).toBeUndefined();
        expect(typeof repaired === "object" && !Array.isArray(repaired)).toBe(true);
      },
    );
  });
}
