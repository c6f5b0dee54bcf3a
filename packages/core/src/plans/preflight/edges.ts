import { isObject } from "../pointer/json-shape.ts";
import type { StepNode } from "./outline.ts";

/** A way out of a step; `to` is undefined where it ends its list. */
export type Edge = { readonly field: string; readonly to: string | undefined };

/**
 * The ways out of a step. Of a step whose form is wrong every text that could name a step counts, so that one fault does
 * not make the steps after it look forgotten.
 */
export function edgesOf({ form, raw }: StepNode): readonly Edge[] {
  switch (form?.type) {
    case "tool_call":
    case "parallel_branch":
    case "loop_over_items":
      return [{ field: "nextStepId", to: form.nextStepId }];
    case "conditional_branch":
      return [
        { field: "onTrue.nextStepId", to: form.onTrue.nextStepId },
        { field: "onFalse.nextStepId", to: form.onFalse.nextStepId },
      ];
    case "human_in_the_loop":
      return [{ field: "nextStepIdOnInput", to: form.nextStepIdOnInput }];
    case "final_response":
      return [{ field: "", to: undefined }];
    case undefined:
      return guessedEdges(raw);
  }
}

function guessedEdges(raw: unknown): readonly Edge[] {
  if (!isObject(raw)) return [];
  const edges: Edge[] = [];
  for (const [field, value] of Object.entries(raw)) {
    if (typeof value === "string") edges.push({ field, to: value });
    if (!isObject(value)) continue;
    for (const [inner, text] of Object.entries(value)) {
      if (typeof text === "string") edges.push({ field: `${field}.${inner}`, to: text });
    }
  }
  return edges;
}
