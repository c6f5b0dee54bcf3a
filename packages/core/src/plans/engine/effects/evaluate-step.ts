import { planError } from "../../../errors/plan.ts";
import { isBlobRef, JSON_MEDIA_TYPE } from "../../../schema/blob.ts";
import type { Json } from "../../../schema/values/json.ts";
import { MAX_LOOP_ITEMS } from "../../../schema/plan.ts";
import type { StepData } from "../../compiled-plan.ts";
import { evaluateCondition } from "../../pointer/condition.ts";
import { asText } from "../../pointer/message.ts";
import type { PointerView } from "../../pointer/view.ts";
import type { Needs } from "../../pointer/resolve.ts";
import { resolveTemplate } from "../../pointer/template.ts";
import type { Evaluated } from "../../transition.ts";

/** A person reads this; what is longer is cut. */
export const MAX_WAIT_MESSAGE = 4_000;

export type StepEvaluation = {
  readonly kind: "value";
  readonly evaluated: Evaluated;
  /** For a loop: its items, so that turns find theirs. */
  readonly items?: readonly Json[];
};

/** Works out what a step needs from the data, or says what must be loaded first. Throws what a person can act on. */
export function evaluateStep(data: StepData, view: PointerView): StepEvaluation | Needs {
  switch (data.kind) {
    case "condition": {
      const answer = evaluateCondition(data.condition, view);
      return answer.kind === "needs"
        ? answer
        : { kind: "value", evaluated: { kind: "condition", holds: answer.value } };
    }
    case "collection":
      return collection(data, view);
    case "message": {
      const answer = resolveTemplate(data.template, view);
      if (answer.kind === "needs") return answer;
      return {
        kind: "value",
        evaluated: { kind: "message", message: asText(answer.value).slice(0, MAX_WAIT_MESSAGE) },
      };
    }
    case "response": {
      const answer = resolveTemplate(data.template, view, { deref: "through" });
      return answer.kind === "needs" ? answer : { kind: "value", evaluated: { kind: "response", value: answer.value } };
    }
    case "arguments":
    case "none":
      throw new Error("This step has nothing to evaluate.");
  }
}

function collection(data: Extract<StepData, { kind: "collection" }>, view: PointerView): StepEvaluation | Needs {
  const answer = resolveTemplate(data.template, view, { deref: "through" });
  if (answer.kind === "needs") return answer;
  const opened = openItems(answer.value, view);
  if (opened.kind === "needs") return opened;
  if (!Array.isArray(opened.value)) return refuse(opened.value);
  const items = opened.value as readonly Json[];
  if (items.length > MAX_LOOP_ITEMS) {
    throw planError(
      "not_iterable",
      `A loop takes ${String(MAX_LOOP_ITEMS)} items at most; this collection has ${String(items.length)}.`,
    );
  }
  return { kind: "value", evaluated: { kind: "collection", count: items.length }, items };
}

/** A large collection is kept as a blob; its items may be references and stay so. */
function openItems(value: Json, view: PointerView): { readonly kind: "opened"; readonly value: unknown } | Needs {
  if (!isBlobRef(value) || value.mediaType !== JSON_MEDIA_TYPE) return { kind: "opened", value };
  const loaded = view.blob(value);
  if (loaded.kind === "missing") return { kind: "needs", loads: [loaded.load] };
  return { kind: "opened", value: loaded.kind === "value" ? loaded.value : undefined };
}

function refuse(value: unknown): never {
  const found = value === null ? "null" : typeof value;
  throw planError(
    "not_iterable",
    `A loop needs an array; its collectionPath leads to ${found === "object" ? "an object" : found}.`,
  );
}
