import { childPath } from "../../pointer/json-location.ts";
import { FINAL_RESPONSE_KEY } from "../../steps/final-response.ts";
import { HUMAN_INPUT_KEY } from "../../steps/human-in-the-loop.ts";
import { resultKey } from "../../steps/tool-call.ts";
import { aliasKeys, type ContextKeys } from "../flow/context-keys.ts";
import type { StepNode } from "../outline.ts";
import type { Problems } from "../problems.ts";

/** Keys that would overwrite each other: between branches, with what comes by itself, with what a loop gives its turns. */
export function checkKeys(nodes: readonly StepNode[], keys: ContextKeys, problems: Problems): void {
  const byItself = keysByItself(nodes);
  for (const node of nodes) {
    checkReserved(node, byItself, problems);
    if (node.lists.length > 1) checkBranches(node, keys, problems);
    if (node.form?.type === "loop_over_items") checkAlias(node, keys, problems);
  }
}

function keysByItself(nodes: readonly StepNode[]): ReadonlySet<string> {
  const keys = new Set([HUMAN_INPUT_KEY, FINAL_RESPONSE_KEY]);
  for (const { form } of nodes) if (form?.type === "tool_call") keys.add(resultKey(form.toolId));
  return keys;
}

/** What comes by itself joins by other rules than what is saved; one name must not be both. */
function checkReserved({ form, path }: StepNode, byItself: ReadonlySet<string>, problems: Problems): void {
  if (form?.type !== "tool_call" && form?.type !== "human_in_the_loop") return;
  const { saveAs } = form;
  if (saveAs === undefined || !byItself.has(saveAs)) return;
  const message = `"${saveAs}" is written by itself during this plan; choose another key.`;
  problems.error(childPath(path, "saveAs"), "reserved_key", message);
}

function checkBranches(parallel: StepNode, keys: ContextKeys, problems: Problems): void {
  const first = new Map<string, StepNode>();
  for (const { nodes } of parallel.lists) {
    const here = new Map<string, StepNode>();
    for (const node of nodes) {
      for (const [key, writer] of keys.savedBelow(node)) if (!here.has(key)) here.set(key, writer);
    }
    for (const [key, writer] of here) {
      const other = first.get(key);
      if (other === undefined) first.set(key, writer);
      else {
        const message = `Step "${other.id ?? ""}" (${other.path}) saves to "${key}" in another branch of "${parallel.id ?? ""}"; branches run side by side, so each needs its own key.`;
        problems.error(childPath(writer.path, "saveAs"), "branch_write_conflict", message);
      }
    }
  }
}

function checkAlias(loop: StepNode, keys: ContextKeys, problems: Problems): void {
  const own = aliasKeys(loop);
  const saved = loop.lists.flatMap(({ nodes }) => nodes).flatMap((node) => [...keys.savedBelow(node)]);
  for (const [key, writer] of saved) {
    if (!own.includes(key)) continue;
    const message = `"${key}" is given to each turn of the loop "${loop.id ?? ""}"; saving to it would hide the item. Choose another key.`;
    problems.error(childPath(writer.path, "saveAs"), "alias_overwritten", message);
  }
  for (let holder = loop.list.owner; holder !== undefined; holder = holder.list.owner) {
    const taken = aliasKeys(holder).find((key) => own.includes(key));
    if (taken === undefined) continue;
    const message = `"${taken}" is given by the loop "${holder.id ?? ""}" around this one already and hidden here.`;
    problems.warning(childPath(loop.path, "itemAlias"), "alias_shadowed", message);
    return;
  }
}
