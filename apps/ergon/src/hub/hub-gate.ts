import type { ErgonError } from "@ergon/core";
import type { CheckAnswer, ToolGate } from "@ergon/core/engine";

/** Tools that are not in the registry yet. */
export type LateTools = {
  readonly mayHave: (toolId: string) => boolean;
  readonly reach: (toolIds: Iterable<string>) => Promise<void>;
  readonly absence: (toolId: string) => ErgonError | undefined;
};

/** The gate, for calls of tools whose servers are not there yet: those are waited for, and named when they do not come. */
export function hubGate(gate: ToolGate, late: LateTools): ToolGate {
  return {
    check: (call) => {
      const { toolId } = call;
      if (!late.mayHave(toolId)) return gate.check(call);
      return late.reach([toolId]).then((): CheckAnswer | Promise<CheckAnswer> => {
        const absence = late.mayHave(toolId) ? late.absence(toolId) : undefined;
        return absence === undefined ? gate.check(call) : { kind: "denied", error: absence.toJSON() };
      });
    },
    invoke: async (call, options) => {
      if (late.mayHave(call.toolId)) await late.reach([call.toolId]);
      return gate.invoke(call, options);
    },
  };
}
