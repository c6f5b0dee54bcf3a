import { type Logger, toErgonError } from "@ergon/core";
import type { NewEvent } from "@ergon/core/schema";
import {
  acknowledging,
  type ApprovalService,
  createApprovalService,
  createEngine,
  createSupervisor,
  type EmbeddedEngine,
  type Infrastructure,
  type Supervisor,
  type ToolGate,
} from "@ergon/core/engine";
import { createModelRepairer } from "@ergon/core/planner";
import { FIRST_PRINCIPAL, openFileLoginStore } from "@ergon/node";
import { type Hub, openHub } from "../hub/open-hub.ts";
import { quieter } from "../services/quieter.ts";
import type { OpenOptions, OwnedData, WorkspaceParts } from "../workspace/workspace.ts";
import { infrastructureOf } from "./http-services.ts";

/** What every run in a folder of ours needs. */
export type OwnedEngine = {
  readonly hub: Hub;
  readonly gate: ToolGate;
  readonly approvals: ApprovalService;
  readonly engine: EmbeddedEngine;
  readonly supervisor: Supervisor;
  readonly infrastructure: Omit<Infrastructure, "sessionId">;
  /** Puts events into the outbox that belong to no session; does not wait for the commit. */
  readonly publish: (owner: string, events: readonly NewEvent[]) => void;
};

export async function openEngine(parts: WorkspaceParts, data: OwnedData, options: OpenOptions): Promise<OwnedEngine> {
  const { values, registry, models, clock, ids, logger, plans } = parts;
  const { grants } = parts.asking;
  const { stays = false } = options;
  const infrastructure = infrastructureOf(data, models);
  const publish = publishing(data.state, logger);
  const hub = await openHub({
    ...parts.hub,
    stays,
    ...(models.model === undefined ? {} : { model: models.model }),
    asking: parts.asking,
    dataFolder: values.data,
    place: data.place,
    isKept: values.store !== "memory:",
    logins: () => openFileLoginStore(values.data),
    registry,
    clock,
    logger,
    tell: (events) => publish(FIRST_PRINCIPAL, events),
  });
  const gate = hub.gate(parts.gate);
  grants.keepIn(data.approvals);
  const approvals = createApprovalService({
    store: data.approvals,
    grants,
    registry,
    clock,
    logger,
    allowList: hub.allow,
    disallow: hub.disallow,
    reach: hub.reach,
  });
  const engineHere = createEngine({
    store: data.state,
    blobs: data.blobs,
    gate,
    registry,
    plans,
    clock,
    ids,
    logger,
    infrastructure,
    approvals,
    fsyncEveryStep: values.fsync === "always",
    supervised: true,
  });
  const engine = hub.engine(acknowledging(engineHere, data.state), plans.get);
  const supervisor = createSupervisor({
    store: data.state,
    engine,
    registry,
    clock,
    logger: stays ? logger : quieter(logger),
    mode: values.corrections,
    sessionBudget: values.correctionBudget,
    ...(models.model === undefined ? {} : { repairer: createModelRepairer({ model: models.model }) }),
  });
  return { hub, gate, approvals, engine, supervisor, infrastructure, publish };
}

function publishing(store: OwnedData["state"], logger: Logger): OwnedEngine["publish"] {
  return (owner, events) => {
    store.commit({ sessionId: "", owner, events }).catch((thrown: unknown) => {
      logger.warn({ error: toErgonError(thrown, "store_unavailable").toJSON() }, "A change was not told.");
    });
  };
}
