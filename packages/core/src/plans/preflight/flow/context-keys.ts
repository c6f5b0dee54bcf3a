import { isObject } from "../../pointer/json-shape.ts";
import { HUMAN_INPUT_KEY } from "../../steps/human-in-the-loop.ts";
import { errorKey, resultKey } from "../../steps/tool-call.ts";
import type { StepNode } from "../outline.ts";

/** A key of the context that a step writes. */
export type KeyWrite = {
  readonly key: string;
  readonly node: StepNode;
  readonly isSaved: boolean;
  /** The call's error is written, not its output. */
  readonly isError?: true;
};

/** What a step writes itself: `saveAs`, and what comes by itself. Of a wrong step, what it seems to write. */
function keyWrites(node: StepNode): readonly KeyWrite[] {
  const { form, raw } = node;
  const writes: KeyWrite[] = [];
  const write = (key: unknown, isSaved: boolean): void => {
    if (typeof key === "string") writes.push({ key, node, isSaved });
  };
  switch (form?.type) {
    case "tool_call":
      write(form.saveAs, true);
      write(resultKey(form.toolId), false);
      for (const toolId of form.alternatives ?? []) write(resultKey(toolId), false);
      if (form.onError === "continue")
        writes.push({ key: errorKey(form.saveAs ?? form.toolId), node, isSaved: false, isError: true });
      break;
    case "human_in_the_loop":
      write(form.saveAs, true);
      write(HUMAN_INPUT_KEY, false);
      break;
    case undefined:
      if (!isObject(raw)) break;
      write(raw["saveAs"], true);
      if (typeof raw["toolId"] === "string") write(resultKey(raw["toolId"]), false);
      break;
    case "conditional_branch":
    case "parallel_branch":
    case "loop_over_items":
    case "final_response":
      break;
  }
  return writes;
}

/** The keys that a loop gives to its turns. */
export function aliasKeys(node: StepNode | undefined): readonly string[] {
  const { form } = node ?? {};
  if (form?.type !== "loop_over_items" || form.itemAlias === "") return [];
  return [form.itemAlias, indexKey(form.itemAlias)];
}

export function indexKey(alias: string): string {
  return `${alias}_index`;
}

export type ContextKeys = {
  /** The steps that write a key, in the order of the plan. */
  readonly writersOf: (key: string) => readonly KeyWrite[];
  /** The loops that have a key as their alias. */
  readonly loopsOf: (key: string) => readonly StepNode[];
  /** The keys written by a step or by the steps that it holds. */
  readonly writtenBelow: (node: StepNode) => ReadonlySet<string>;
  /** The `saveAs` of a step and of the steps that it holds: the first place of each key. */
  readonly savedBelow: (node: StepNode) => ReadonlyMap<string, StepNode>;
  /** All keys, in one array. */
  readonly all: () => readonly string[];
};

export function contextKeys(nodes: readonly StepNode[]): ContextKeys {
  const writers = new Map<string, KeyWrite[]>();
  const loops = new Map<string, StepNode[]>();
  const written = new Map<StepNode, Set<string>>();
  const saved = new Map<StepNode, Map<string, StepNode>>();
  for (const node of nodes) {
    written.set(node, new Set());
    saved.set(node, new Map());
    for (const write of keyWrites(node)) {
      put(writers, write.key, write);
      for (let holder: StepNode | undefined = node; holder !== undefined; holder = holder.list.owner) {
        written.get(holder)?.add(write.key);
        const known = saved.get(holder);
        if (write.isSaved && known?.has(write.key) === false) known.set(write.key, node);
      }
    }
    for (const key of aliasKeys(node)) put(loops, key, node);
  }
  let all: readonly string[] | undefined;
  return {
    writersOf: (key) => writers.get(key) ?? [],
    loopsOf: (key) => loops.get(key) ?? [],
    writtenBelow: (node) => written.get(node) ?? new Set(),
    savedBelow: (node) => saved.get(node) ?? new Map(),
    all: () => (all ??= [...new Set([...writers.keys(), ...loops.keys()])]),
  };
}

function put<T>(map: Map<string, T[]>, key: string, value: T): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}
