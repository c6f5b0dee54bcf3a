import { z } from "zod";
import { ErgonError } from "../errors/ergon-error.ts";
import type { Clock } from "../ports/clock.ts";
import type { Json } from "../schema/values/json.ts";
import type { ToolGate } from "../tools/gate/gate.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { Infrastructure, Tool } from "../tools/tool.ts";
import { wholeOutput } from "../tools/gate/whole-output.ts";

/** A tool with this tag, called without arguments, gives `{entities: [{kind, id, name}]}`: the names that its
 *  pack knows. `kinds: {KIND: {aliases, verbs}}` beside them adds the pack's words for a kind. */
export const ENTITY_SOURCE_TAG = "entity-source";
/** Names are asked for again after this long. */
const FRESH_MS = 60_000;
/** Whoever keeps the names may have to be started first. */
const TIMEOUT_MS = 60_000;

const Words = z.array(z.string().min(1).max(100)).max(50).optional();
const Answer = z.object({
  entities: z.array(z.object({ kind: z.string(), id: z.string(), name: z.string() })),
  kinds: z.record(z.string(), z.object({ aliases: Words, verbs: Words })).default({}),
});

/** Something that messages name: a person, a dataset. */
export type Entity = {
  readonly kind: string;
  readonly id: string;
  readonly name: string;
  /** Other words for the kind, as names of arguments use them: `person` for a profile. */
  readonly kindAliases?: readonly string[] | undefined;
  /** Verbs that order a change of such a thing; a tool that speaks of none of them does not do what they order. */
  readonly kindVerbs?: readonly string[] | undefined;
};

/** Gives the names that the planner recognises, for the tools that may be meant; asked anew for each plan. */
export type EntitySource = (candidates: readonly Tool[]) => Promise<readonly Entity[]>;

/**
 * The names that packs know, asked through the gate like anything else, and kept for a minute. A pack is asked only when
 * a tool that shares a tag with its source may be meant: its database may have to be started for it.
 */
export function createToolEntities(deps: {
  readonly registry: Pick<ToolRegistry, "list">;
  readonly gate: ToolGate;
  readonly clock: Clock;
  readonly owner: string;
  readonly infrastructure?: Infrastructure;
}): EntitySource {
  const { registry, gate, clock, owner, infrastructure = {} } = deps;
  const kept = new WeakMap<Tool, { readonly untilMs: number; readonly entities: Promise<readonly Entity[]> }>();

  function ask(source: Tool): Promise<readonly Entity[]> {
    const known = kept.get(source);
    if (known !== undefined && clock.monotonic() < known.untilMs) return known.entities;
    const entities = call(source.id);
    kept.set(source, { untilMs: clock.monotonic() + FRESH_MS, entities });
    // What failed is asked again at the next plan.
    entities.catch(() => kept.delete(source));
    return entities;
  }

  async function call(toolId: string): Promise<readonly Entity[]> {
    const caller = { kind: "loop", owner } as const;
    const checked = await gate.check({ toolId, args: {}, context: {}, caller, timeoutMs: TIMEOUT_MS });
    if (checked.kind === "denied") throw new ErgonError(checked.error.code, checked.error.message);
    if (checked.kind === "needs_approval") return [];
    const idempotencyKey = `${toolId}:${String(clock.now())}`;
    const outcome = await gate.invoke(checked, { idempotencyKey, context: {}, infrastructure });
    if (outcome.kind === "failed") throw new ErgonError(outcome.error.code, outcome.error.message);
    return entitiesIn(toolId, wholeOutput(outcome) ?? null);
  }

  return async (candidates) => {
    const tags = new Set(candidates.flatMap((tool) => tool.tags));
    const sources = registry
      .list()
      .filter((tool) => tool.tags.includes(ENTITY_SOURCE_TAG) && tool.tags.some((tag) => tags.has(tag)));
    return (await Promise.all(sources.map(ask))).flat();
  };
}

/** An action answers with its data inside, or says why it has none. */
function entitiesIn(toolId: string, output: Json): readonly Entity[] {
  const { data, success, error } = (output ?? {}) as { data?: Json; success?: Json; error?: { message?: string } };
  if (success === false) throw new ErgonError("tool_failed", error?.message ?? `"${toolId}" gave no names.`);
  const parsed = Answer.safeParse(data ?? output);
  if (!parsed.success)
    throw new ErgonError("output_invalid", `"${toolId}" is tagged ${ENTITY_SOURCE_TAG} but gives no entities.`);
  const { entities, kinds } = parsed.data;
  return entities.map((entity) => {
    const words = Object.hasOwn(kinds, entity.kind) ? kinds[entity.kind] : undefined;
    return { ...entity, kindAliases: words?.aliases, kindVerbs: words?.verbs };
  });
}
