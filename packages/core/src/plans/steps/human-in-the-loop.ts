import type { HumanInTheLoopStep } from "../../schema/plan.ts";
import type { StepKind } from "../transition.ts";
import { evaluatingStep } from "./simple-step.ts";

/** Where every answer can be found, besides `saveAs`. */
export const HUMAN_INPUT_KEY = "human_input";

export function humanInTheLoop(step: HumanInTheLoopStep): StepKind {
  return evaluatingStep({
    skipTo: step.nextStepIdOnInput,
    evaluated: (_visit, { value, atMs }) =>
      value.kind === "message"
        ? { to: "state", state: { kind: "human", sinceMs: atMs, message: value.message } }
        : undefined,
    complete: (visit, completion, out) => {
      if (completion.kind !== "answered" || visit.frame.state.kind !== "human") return undefined;
      const { scope } = visit.place;
      const value = { kind: "inline", value: completion.input } as const;
      out.writes.push({ scope, key: HUMAN_INPUT_KEY, implicit: true, value });
      if (step.saveAs !== undefined) out.writes.push({ scope, key: step.saveAs, value });
      return { to: "next", stepId: step.nextStepIdOnInput };
    },
  });
}
