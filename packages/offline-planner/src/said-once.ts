import type { PlannedAction } from "@ergon/core";

/**
 * One call for what was said twice in other words, two for "greet Ada and greet Bob": a tool is called again only for an
 * argument that the two say differently.
 */
export function saidOnce(drafts: readonly PlannedAction[]): readonly PlannedAction[] {
  const kept: PlannedAction[] = [];
  for (const draft of drafts) {
    const at = kept.findIndex(({ tool, args }) => tool === draft.tool && agree(args, draft.args));
    const same = kept[at];
    if (same === undefined) kept.push(draft);
    else kept[at] = { ...same, args: { ...draft.args, ...same.args } };
  }
  return kept;
}

function agree(one: PlannedAction["args"], other: PlannedAction["args"]): boolean {
  return Object.entries(one).every(
    ([name, value]) => other[name] === undefined || JSON.stringify(other[name]) === JSON.stringify(value),
  );
}
