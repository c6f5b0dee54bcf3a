import { INLINE_LIMIT_BYTES } from "../../../schema/blob.ts";
import type { JsonObject } from "../../../schema/values/json.ts";
import type { CallOutcome } from "../../../tools/gate/gate.ts";
import type { Tool } from "../../../tools/tool.ts";
import { wholeOutput } from "../../../tools/gate/whole-output.ts";
import type { Cursor } from "../../cursor.ts";
import { visitPath } from "../../visits.ts";
import { DOWNSTREAM_KEY } from "../../join.ts";
import type { CommitBuilder } from "../run/commit-builder.ts";
import type { Arrival, RunState } from "../run/run-state.ts";
import { trailScope } from "./run-trail.ts";

/** All of it together; beyond, the oldest go. What is left out is still in the actions' own results. */
export const MAX_DOWNSTREAM_CHARS = INLINE_LIMIT_BYTES / 4;

/** What an action's answer leaves for the prompts of those that follow; other tools leave nothing. */
export function downstreamOf(tool: Tool | undefined, outcome: CallOutcome): JsonObject | undefined {
  if (tool?.origin !== "action" || outcome.kind !== "ok") return undefined;
  const answer: unknown = wholeOutput(outcome) ?? null;
  const left = (answer as { readonly dataForDownstreamPrompt?: JsonObject } | null)?.dataForDownstreamPrompt;
  return left !== undefined && Object.keys(left).length > 0 ? left : undefined;
}

/** Merges it into the context of the list that the action ran in. */
export function writeDownstream(state: RunState, before: Cursor, arrival: Arrival, builder: CommitBuilder): void {
  const place = visitPath(before, arrival.completion.position).at(-1)?.place;
  if (place === undefined || arrival.downstream === undefined) return;
  const earlier = state.data.contextOf(place)[DOWNSTREAM_KEY];
  const value = { kind: "inline", value: merged(earlier as JsonObject | undefined, arrival.downstream) } as const;
  const write = { scope: place.scope, key: DOWNSTREAM_KEY, implicit: true, value };
  state.data.write([write], () => undefined);
  builder.context.push(write);
  if (place.scope === "") builder.context.push({ ...write, scope: trailScope(arrival.completion.position) });
}

/** Newest last. */
export function merged(earlier: JsonObject | undefined, added: JsonObject): JsonObject {
  const kept = Object.entries({ ...earlier }).filter(([id]) => !Object.hasOwn(added, id));
  const all = [...kept, ...Object.entries(added)];
  let chars = 0;
  const fitting = all.toReversed().filter(([id, entry]) => {
    chars += id.length + JSON.stringify(entry).length;
    return chars <= MAX_DOWNSTREAM_CHARS;
  });
  return Object.fromEntries(fitting.toReversed());
}
