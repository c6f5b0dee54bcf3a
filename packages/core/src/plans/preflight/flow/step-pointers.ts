import { didYouMean } from "../../../schema/values/suggest.ts";
import { childPath } from "../../pointer/json-location.ts";
import { pointersIn, type FindOptions, type PointerFindings } from "../../pointer/pointers-in.ts";
import type { StepNode } from "../outline.ts";
import type { Problems } from "../problems.ts";

/** A pointer of a step, and whether the step can do without what it points to. */
export type StepPointer = PointerFindings["pointers"][number] & {
  readonly node: StepNode;
  /** True when finding nothing is one of the answers that the step was written for. */
  readonly mayBeAbsent: boolean;
};

/** Finds the pointers of a step and reports those that cannot be pointers. */
export function stepPointers(node: StepNode, problems: Problems): readonly StepPointer[] {
  const found: StepPointer[] = [];
  const look = (field: string, value: unknown, options: { messages?: boolean; mayBeAbsent?: boolean } = {}): void => {
    const { mayBeAbsent = false, ...rest } = options;
    const at = field.split(".").reduce(childPath, node.path);
    for (const pointer of locate(value, { at, ...rest }, problems)) {
      found.push({ ...pointer, node, mayBeAbsent: mayBeAbsent || pointer.hasDefault });
    }
  };
  const { form } = node;
  switch (form?.type) {
    case "tool_call":
      look("arguments", form.arguments);
      break;
    case "conditional_branch": {
      const { left, operator, right } = form.condition;
      const asks = operator === "exists" || operator === "not_exists";
      look("condition.left", left, { mayBeAbsent: asks });
      if (!asks) look("condition.right", right);
      break;
    }
    case "loop_over_items":
      look("collectionPath", form.collectionPath);
      break;
    case "human_in_the_loop":
    case "final_response":
      look("message", form.message, { messages: true });
      break;
    case "parallel_branch":
    case undefined:
      break;
  }
  return found;
}

function locate(value: unknown, options: FindOptions, problems: Problems): PointerFindings["pointers"] {
  const { pointers, problems: wrong } = pointersIn(value, options);
  for (const { path, code, message, severity } of wrong) {
    const root = code === "pointer_invalid" ? unknownRoot(message) : undefined;
    if (root === undefined) problems.add(severity, { path, code, message });
    else problems.error(path, "pointer_root", () => message + didYouMean(root, ROOTS));
  }
  return pointers;
}

const ROOTS = ["context", "history", "promptInput"];
/** The message begins with the pointer itself. */
const NAMED_ROOT = /^"\$\s*(?:\.\s*([A-Za-z_]\w*)|\[\s*['"]([^'"]*)['"]\s*\])/;

function unknownRoot(message: string): string | undefined {
  const found = NAMED_ROOT.exec(message);
  const root = found?.[1] ?? found?.[2];
  return root === undefined || ROOTS.includes(root) ? undefined : root;
}
