import { z } from "zod";
import { ErgonError } from "../errors/ergon-error.ts";
import type { Clock } from "../ports/clock.ts";
import type { Json } from "../schema/json.ts";
import type { ToolGate } from "../tools/gate.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { Infrastructure } from "../tools/tool.ts";
import type { Entity, EntitySource } from "./offline/entities.ts";

/** A tool with this tag, called without arguments, gives `{entities: [{kind, id, name}]}`: the names that its pack knows. */
export const ENTITY_SOURCE_TAG = "entity-source";
/** Names are asked for again after this long. */
const FRESH_MS = 60_000;
const TIMEOUT_MS = 10_000;

const Answer = z.object({ entities: z.array(z.object({ kind: z.string(), id: z.string(), name: z.string() })) });

/** The names that packs know, asked through the gate like anything else, and kept for a minute. */
export function createToolEntities(deps: {
  readonly registry: Pick<ToolRegistry, "list">;
  readonly gate: ToolGate;
  readonly clock: Clock;
  readonly owner: string;
  readonly infrastructure?: Infrastructure;
}): EntitySource {
  const { registry, gate, clock, owner, infrastructure = {} } = deps;
  let kept: { readonly untilMs: number; readonly entities: Promise<readonly Entity[]> } | undefined;

  async function askAll(): Promise<readonly Entity[]> {
    const sources = registry.list().filter(({ tags }) => tags.includes(ENTITY_SOURCE_TAG));
    return (await Promise.all(sources.map(({ id }) => ask(id)))).flat();
  }

  async function ask(toolId: string): Promise<readonly Entity[]> {
    const caller = { kind: "loop", owner } as const;
    const checked = await gate.check({ toolId, args: {}, context: {}, caller, timeoutMs: TIMEOUT_MS });
    if (checked.kind === "denied") throw new ErgonError(checked.error.code, checked.error.message);
    if (checked.kind === "needs_approval") return [];
    const idempotencyKey = `${toolId}:${String(clock.now())}`;
    const outcome = await gate.invoke(checked, { idempotencyKey, context: {}, infrastructure });
    if (outcome.kind === "failed") throw new ErgonError(outcome.error.code, outcome.error.message);
    const [blob] = outcome.blobs;
    const output = blob === undefined ? outcome.output : (JSON.parse(new TextDecoder().decode(blob.bytes)) as Json);
    const parsed = Answer.safeParse(dataOf(output));
    return parsed.success ? parsed.data.entities : [];
  }

  return () => {
    if (kept === undefined || clock.now() >= kept.untilMs) {
      const entities = askAll();
      kept = { untilMs: clock.now() + FRESH_MS, entities };
      // What failed is asked again at the next plan.
      entities.catch(() => {
        kept = undefined;
      });
    }
    return kept.entities;
  };
}

/** An action answers with its data inside. */
function dataOf(output: Json): unknown {
  if (typeof output !== "object" || output === null || Array.isArray(output)) return output;
  const { data } = output as { readonly data?: Json };
  return data ?? output;
}
