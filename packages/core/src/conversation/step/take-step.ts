import { type ErgonError, toErgonError } from "../../errors/ergon-error.ts";
import type { CostModel } from "../../energy/cost-model.ts";
import type { EnergyRegulator, Reservation } from "../../energy/regulator.ts";
import type { ChatModel } from "../../ports/chat-model.ts";
import { isoTime, type Clock } from "../../ports/clock.ts";
import type { ConversationRecord, Work } from "../../schema/conversation.ts";
import type { Json } from "../../schema/values/json.ts";
import type { ActionResult } from "../../schema/mcp-loop.ts";
import { describeResult } from "../../planner/turn/describe-result.ts";
import { composeSummary } from "../../planner/turn/finalize-summary.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import {
  callKey,
  type Choice,
  chooseByModel,
  type ChooseDeps,
  chooseOffline,
  OFFLINE,
  offlineAnswer,
} from "../loop/choose-next.ts";
import type { ModelSelector } from "../energy/model-selector.ts";
import type { Live } from "../loop/live-conversations.ts";
import type { ModelHealth } from "../loop/model-health.ts";
import type { Pool } from "../energy/pool.ts";
import { answered, carriedOut, type Happened, unchanged } from "./progress.ts";
import type { RunActions } from "./run-actions.ts";

export type StepDeps = ChooseDeps & {
  readonly regulator: EnergyRegulator;
  readonly pool: Pool;
  readonly shelf: ModelSelector;
  readonly health: ModelHealth;
  readonly runActions: RunActions;
  readonly registry: Pick<ToolRegistry, "get">;
  readonly costs: CostModel;
  readonly clock: Clock;
};

export type Around = {
  readonly others: readonly { readonly conversationId: string; readonly title: string }[];
  readonly news: readonly Json[];
  /** Servers are searched where no tool fits. */
  readonly discovers: boolean;
  readonly signal: AbortSignal;
};

/** What a step came to; `record` as it is kept now. */
export type Stepped =
  | {
      readonly kind: "kept";
      readonly record: ConversationRecord | undefined;
      readonly focus?: string;
      /** What no tool fits. */
      readonly unmet?: string;
    }
  /** Its work waits for a person, and needs nothing until then. */
  | { readonly kind: "waits"; readonly waiting: NonNullable<Live["waiting"]> }
  /** The model cannot be asked: everything stays as it is. */
  | { readonly kind: "model_down" }
  | { readonly kind: "left" };

/** What the next step of a conversation is expected to cost. */
export function expectedUnits(
  { shelf, health, registry, costs }: StepDeps,
  record: ConversationRecord,
  level: number,
): number {
  if (record.work !== undefined) {
    return record.work.actions.reduce((sum, { tool: id }) => {
      const tool = registry.get(id);
      return tool === undefined ? sum : sum + costs.estimateTool(tool);
    }, 0);
  }
  const model = shelf.choose(level, ({ id }) => health.isAvailable(id));
  return model === undefined ? 0 : shelf.estimate(model);
}

/** One step of one conversation: choose what to do next, or carry out what was chosen. Written as one with its cost. */
export async function takeStep(deps: StepDeps, record: ConversationRecord, around: Around): Promise<Stepped> {
  const { level } = deps.regulator.state();
  const reservation = deps.regulator.reserve(Math.max(0, expectedUnits(deps, record, level)));
  if (reservation === undefined) return { kind: "left" };
  if (record.work !== undefined) return await carryOut(deps, record, record.work, reservation, around.signal);
  if (deps.shelf.models.length === 0) return await think(deps, record, undefined, reservation, around);
  const model = deps.shelf.choose(level, ({ id }) => deps.health.isAvailable(id));
  if (model !== undefined) return await think(deps, record, model, reservation, around);
  giveUp(deps, reservation);
  return { kind: "model_down" };
}

async function think(
  deps: StepDeps,
  record: ConversationRecord,
  model: ChatModel | undefined,
  reservation: Reservation,
  around: Around,
): Promise<Stepped> {
  const { regulator, shelf, health, pool, clock } = deps;
  const { signal } = around;
  const startedMs = clock.monotonic();
  const costs = (atMost = Number.POSITIVE_INFINITY) => ({
    reservation,
    units: model === undefined ? 0 : Math.min(atMost, deps.costs.settleModel(clock.monotonic() - startedMs)),
    spend: { cause: "model" } as const,
  });
  const situation = { record, energy: regulator.state(), ...around };
  let choice: Choice;
  try {
    choice = await (model === undefined ? chooseOffline(deps, situation) : chooseByModel(deps, model, situation));
  } catch (thrown) {
    const error = toErgonError(thrown, "turn_failed");
    if (signal.aborted || model === undefined || !isModels(error)) {
      giveUp(deps, reservation);
      if (signal.aborted) return { kind: "left" };
      throw error;
    }
    health.failed(model.id, error);
    // Its time was spent; but that nobody answers must not use up what the answer will need.
    await pool.commit(record.id, unchanged, { cost: costs(shelf.estimate(model)), signal });
    return { kind: "model_down" };
  }
  const cost = costs();
  if (model !== undefined) {
    health.worked(model.id);
    shelf.learn(model, cost.units);
  }
  const kept = await pool.commit(record.id, choice.become, { cost, signal });
  const { focus, unmet } = choice;
  return {
    kind: "kept",
    record: kept,
    ...(focus === undefined ? {} : { focus }),
    ...(unmet === undefined ? {} : { unmet }),
  };
}

async function carryOut(
  deps: StepDeps,
  record: ConversationRecord,
  work: Work,
  reservation: Reservation,
  signal: AbortSignal,
): Promise<Stepped> {
  const { runActions, pool, clock } = deps;
  const { id: conversationId, owner, title: description } = record;
  const outcome = await runActions({ owner, conversationId, work, description, signal }).catch((thrown: unknown) => {
    giveUp(deps, reservation);
    throw thrown;
  });
  if (outcome.kind !== "done") {
    giveUp(deps, reservation);
    return outcome;
  }
  const { results, energyUnits: units } = outcome;
  const become = (now: ConversationRecord, level: number): Happened => {
    const at = isoTime(clock);
    const keyed = results.map((result, n) => ({ ...result, key: callKey(work.actions[n] ?? { tool: "", args: {} }) }));
    const done = carriedOut(now, keyed, at);
    if (!work.answers) return done;
    const content = offlineAnswer(now, findingsOf(results));
    const said = answered(done.record, { content, by: OFFLINE, seen: work.seen, level, at });
    return { record: said.record, entries: [...done.entries, ...said.entries] };
  };
  // The engine has written the ledger's rows of these calls with the calls themselves.
  const cost = { reservation, units, spend: { cause: "tool", told: true } } as const;
  return { kind: "kept", record: await pool.commit(conversationId, become, { cost, signal }) };
}

/** Nothing came of it, and nothing is charged. */
function giveUp({ regulator }: StepDeps, reservation: Reservation): void {
  regulator.settle(reservation, 0, { cause: "model" });
}

function findingsOf(results: readonly ActionResult[]): string {
  const found = results
    .filter(({ success }) => success)
    .map(({ tool, output }) => ({ tool, text: describeResult(output) }));
  const failed = results.filter(({ success }) => !success).map(({ tool, error = "failed" }) => `${tool}: ${error}`);
  return [...(found.length === 0 ? [] : [composeSummary({ findings: found, failures: [] })]), ...failed].join("\n");
}

const MODEL_CODES = new Set([
  "model_timeout",
  "model_unavailable",
  "model_rate_limited",
  "model_refused",
  "model_answer_invalid",
  "setting_invalid",
]);

function isModels({ code }: ErgonError): boolean {
  return MODEL_CODES.has(code);
}
