import {
  type Clock,
  type ErgonError,
  type Logger,
  type LoopOptions,
  type LoopRequest,
  type MCPResponse,
  McpLoopRunner,
  type ToolRegistry,
} from "@ergon/core";
import type { Ids } from "@ergon/core/store-kit";
import type { EmbeddedEngine, Infrastructure, ToolGate } from "@ergon/core/engine";
import { type Attempt, createToolEntities } from "@ergon/core/planner";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { Models } from "./choose-models.ts";
import type { OpenedData } from "../workspace/opened-data.ts";

export type LoopParts = {
  readonly data: Pick<Extract<OpenedData, { kind: "opened" }>, "state" | "memory" | "vectors" | "supabase">;
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

/** The same for those who want an answer or a refusal. */
export type AskTurn = (turn: {
  readonly request: LoopRequest;
  readonly signal: AbortSignal;
  /** Whoever typed it, by default. */
  readonly owner?: string;
}) => Promise<MCPResponse>;

/** No failed run but none at all: another plan has taken the session meanwhile, or the caller's plan cannot run. */
export function isRefusal({ code }: ErgonError): boolean {
  return code.startsWith("session_") || code === "plan_refused";
}

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
  return async (request, options) => {
    const attempt = await runner.attempt(request, options);
    data.supabase.turns?.actions(request.sessionId, attempt.response.data?.intermediateResults ?? []);
    return attempt;
  };
}
