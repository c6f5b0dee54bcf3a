import type { JsonSchema } from "../../../schema/values/json.ts";
import { isSchemaObject } from "../../../tools/json-schema/walk-schema.ts";
import { childPath } from "../../pointer/json-location.ts";
import { FINAL_RESPONSE_KEY } from "../../steps/final-response.ts";
import type { ContextKeys } from "../flow/context-keys.ts";
import { unansweredReads, type KeyRead } from "../flow/context-flow.ts";
import type { ListGraph } from "../flow/list-graph.ts";
import type { Outline, StepNode } from "../outline.ts";
import type { Problems } from "../problems.ts";
import type { Producers } from "../flow/producers.ts";
import type { StepPointer } from "../flow/step-pointers.ts";
import type { Suggester } from "../suggester.ts";
import type { ToolIndex } from "../tool-index.ts";

export type PointerParts = {
  readonly outline: Outline;
  readonly graphs: readonly ListGraph[];
  readonly keys: ContextKeys;
  readonly tools: ToolIndex;
  readonly producers: Producers;
  readonly parameters: JsonSchema | undefined;
  readonly suggester: Suggester;
};

/** Whether pointers lead somewhere. Returns those that surely do not, so that nothing else is said about them. */
export function checkPointers(
  pointers: readonly StepPointer[],
  parts: PointerParts,
  problems: Problems,
): ReadonlySet<StepPointer> {
  const lost = checkContext(pointers, parts, problems);
  for (const pointer of pointers) {
    checkHistory(pointer, parts, problems);
    const isKnown = checkInput(pointer, parts, problems);
    if (!isKnown || lost.has(pointer) || pointer.mayBeAbsent) continue;
    const deadEnd = parts.producers.deadEnd(pointer);
    if (deadEnd === undefined) continue;
    const { source } = pointer.pointer;
    problems.error(pointer.path, "pointer_unreachable", () => {
      const hint = typeof deadEnd.hop === "string" ? parts.suggester.sentence(deadEnd.hop, deadEnd.known) : "";
      const fields =
        hint === "" && deadEnd.known.length > 0 ? ` Known are: ${deadEnd.known.slice(0, 20).join(", ")}.` : hint;
      return `"${source}" leads nowhere: the value before ${JSON.stringify(deadEnd.hop)} cannot have it.${fields}`;
    });
    lost.add(pointer);
  }
  return lost;
}

/** A read of the context: by a pointer, or by a tool that asks for a key by itself. */
type ContextRead = KeyRead & { readonly path: string; readonly pointer?: StepPointer };

function checkContext(pointers: readonly StepPointer[], parts: PointerParts, problems: Problems): Set<StepPointer> {
  const { outline, graphs, keys, tools } = parts;
  const reads: ContextRead[] = [...requiredReads(outline, tools)];
  for (const pointer of pointers) {
    for (const { root, key } of pointer.pointer.reads) {
      if (root === "context" && key !== undefined) reads.push({ key, node: pointer.node, path: pointer.path, pointer });
    }
  }
  const lost = new Set<StepPointer>();
  for (const read of unansweredReads(reads, graphs, keys)) {
    const writer = read.key === FINAL_RESPONSE_KEY ? undefined : keys.writersOf(read.key)[0]?.node;
    const { path, pointer } = read;
    const mayBeAbsent = pointer?.mayBeAbsent ?? false;
    if (writer === undefined) {
      const code = pointer === undefined ? "context_missing" : "pointer_unset";
      if (!mayBeAbsent) problems.warning(path, code, () => unset(read, parts));
      continue;
    }
    const code = pointer === undefined ? "context_missing" : "pointer_unreachable";
    problems.add(mayBeAbsent ? "warning" : "error", { path, code, message: () => tooLate(read, writer) });
    if (pointer !== undefined) lost.add(pointer);
  }
  return lost;
}

function* requiredReads({ nodes }: Outline, tools: ToolIndex): Iterable<ContextRead> {
  for (const node of nodes) {
    if (node.form?.type !== "tool_call") continue;
    for (const key of tools.get(node.form.toolId)?.requiredContext ?? []) {
      // The session's id is there whenever there is a session.
      if (key !== "sessionId") yield { key, node, path: childPath(node.path, "toolId") };
    }
  }
}

function unset({ key, pointer, node }: ContextRead, { keys, suggester }: PointerParts): string {
  const who =
    pointer === undefined
      ? `The tool of step "${node.id ?? ""}" needs "${key}" in the context`
      : `"${pointer.pointer.source}" reads the key "${key}"`;
  const [loop] = keys.loopsOf(key);
  const hint =
    loop === undefined
      ? suggester.sentence(key, keys.all())
      : ` In the loop "${loop.id ?? ""}" it is the loop's own, but not outside.`;
  return `${who}, which no step writes; the session must bring it.${hint}`;
}

function tooLate({ key, node }: ContextRead, writer: StepNode): string {
  const name = `"${writer.id ?? ""}" (${writer.path})`;
  const reason = inSiblings(node, writer)
    ? "runs in another branch, and branches do not see each other"
    : "cannot have run before";
  return `"${key}" is written by step ${name}, which ${reason}.`;
}

function inSiblings(a: StepNode, b: StepNode): boolean {
  const lists = new Map<StepNode, unknown>();
  for (let { list } = a; list.owner !== undefined; list = list.owner.list) lists.set(list.owner, list);
  for (let { list } = b; list.owner !== undefined; list = list.owner.list) {
    const other = lists.get(list.owner);
    if (other !== undefined) return other !== list;
  }
  return false;
}

function checkHistory(
  { path, pointer }: StepPointer,
  { outline: { byId, ids }, suggester }: PointerParts,
  problems: Problems,
): void {
  for (const { history } of pointer.reads) {
    if (history?.kind !== "step") continue;
    const { stepId } = history;
    const step = byId.get(stepId);
    if (step === undefined) {
      problems.error(
        path,
        "history_step_unknown",
        () => `No step of this plan is "${stepId}".${suggester.sentence(stepId, ids())}`,
      );
    } else if (step.form !== undefined && step.form.type !== "tool_call") {
      const message = `Step "${stepId}" calls no tool (it is a ${step.form.type}), so history has nothing of it.`;
      problems.warning(path, "history_step_silent", message);
    }
  }
}

/** False when it reads an input that the plan does not declare. */
function checkInput(
  { path, pointer, mayBeAbsent }: StepPointer,
  { parameters, suggester }: PointerParts,
  problems: Problems,
): boolean {
  if (!isSchemaObject(parameters) || !isSchemaObject(parameters["properties"])) return true;
  const { properties, additionalProperties, patternProperties } = parameters;
  const names = Object.keys(properties);
  let isKnown = true;
  for (const { root, key } of pointer.reads) {
    if (root !== "promptInput" || key === undefined || Object.hasOwn(properties, key)) continue;
    const isClosed = additionalProperties === false && patternProperties === undefined;
    if (!isClosed && mayBeAbsent) continue;
    isKnown = false;
    problems.add(isClosed && !mayBeAbsent ? "error" : "warning", {
      path,
      code: "unknown_input",
      message: () =>
        `"${key}" is not among the plan's parameters (${names.slice(0, 20).join(", ")}).${suggester.sentence(key, names)}`,
    });
  }
  return isKnown;
}
