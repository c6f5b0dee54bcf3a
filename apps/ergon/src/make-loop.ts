import {
  type Attempt,
  type Clock,
  createToolEntities,
  type EmbeddedEngine,
  type Ids,
  type Infrastructure,
  type Logger,
  type LoopOptions,
  type LoopRequest,
  McpLoopRunner,
  type ToolGate,
  type ToolRegistry,
} from "@ergon/core";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { Models } from "./choose-models.ts";
import type { OpenedData } from "./open-data.ts";

export type LoopParts = {
  readonly data: Pick<Extract<OpenedData, { kind: "opened" }>, "state" | "memory" | "vectors">;
  readonly engine: EmbeddedEngine;
  readonly registry: ToolRegistry;
  readonly gate: ToolGate;
  readonly models: Models;
  readonly infrastructure: Omit<Infrastructure, "sessionId">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
};

/** One turn of the planner loop, as a run of a durable session. */
export type AskLoop = (request: LoopRequest, options: LoopOptions) => Promise<Attempt>;

export function makeLoop({
  data,
  engine,
  registry,
  gate,
  models,
  infrastructure,
  clock,
  ids,
  logger,
}: LoopParts): AskLoop {
  const { model } = models;
  const embedder = data.vectors.around(models.embedder);
  const runner = new McpLoopRunner({
    registry,
    embedder,
    memory: data.memory,
    place: { engine, store: data.state },
    entities: createToolEntities({ registry, gate, clock, owner: FIRST_PRINCIPAL, infrastructure }),
    clock,
    ids,
    logger,
    ...(model === undefined ? {} : { model }),
  });
  return (request, options) => runner.attempt(request, options);
}
