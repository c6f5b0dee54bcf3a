import type { FinalResponseStep } from "../../schema/plan.ts";
import type { StepKind } from "../transition.ts";
import { evaluatingStep } from "./simple-step.ts";

export const FINAL_RESPONSE_KEY = "finalResponse";

export function finalResponse(_step: FinalResponseStep): StepKind {
  return evaluatingStep({
    skipTo: undefined,
    evaluated: (visit, { value }, out) => {
      if (value.kind !== "response") return undefined;
      out.writes.push({
        scope: visit.place.scope,
        key: FINAL_RESPONSE_KEY,
        value: { kind: "inline", value: value.value },
      });
      return { to: "end", end: { status: "completed" } };
    },
  });
}
