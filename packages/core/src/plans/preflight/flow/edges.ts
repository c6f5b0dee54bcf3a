import { isList, isObject } from "../../pointer/json-shape.ts";
import type { StepNode } from "../outline.ts";
import { meantField } from "../checks/shape-problems.ts";
import { STEP_FORMS } from "../step-forms.ts";

/** A way out of a step; `to` is undefined where it ends its list. */
export type Edge = { readonly field: string; readonly to: string | undefined };

/**
 * The ways out of a step. Of a step whose form is wrong every text in a field that leads on counts, whatever its form, so
 * that one fault does not make the steps after it look forgotten. Texts of other fields do not: a step's data may be
 * the id of another, and a cycle that is none would hide what is wrong with its steps.
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
    const meant = STEP_FIELDS.includes(field) ? field : meantField(field, STEP_FIELDS);
    if (meant === undefined || !LEADING_FIELDS.includes(meant)) continue;
    const names: readonly unknown[] = isObject(value) || isList(value) ? Object.values(value) : [value];
    for (const to of names) if (typeof to === "string") edges.push({ field, to });
  }
  return edges;
}

const LEADING_FIELDS = ["nextStepId", "nextStepIdOnInput", "onTrue", "onFalse"];
const STEP_FIELDS = [...new Set(Object.values(STEP_FORMS).flatMap(({ shape }) => Object.keys(shape)))];
