/*
 * Spec 5's sub-agent, in the owner's process: keeps the queue, and leads one request at a time through its stages. The work
 * is done by a process of its own (worker-process); what a kind of request does is in handlers.
 *
 * Keeps A1 to A5 of core's hub/sub-agent.
 */
import type { Clock, Json, Logger } from "@ergon/core";
import { canonicalJson, usageError } from "@ergon/core/schema";
import { type SubAgent, type SubAgentMessage, SubAgentRequest, type SubAgentStatus } from "@ergon/core/hub";
import { removeAll } from "./add-server.ts";
import type { EnableAnswer, Outcome, Prepared, SubAgentHost } from "./sub-agent-host.ts";
import { checkParams, handle, inWords } from "./handlers.ts";
import { createMessages } from "./messages.ts";
import { createMeter, type Meter } from "./meter.ts";
import { ENDED, MAX_ENDED_REQUESTS, type KeptRequest, type SubAgentRequests } from "./requests.ts";
import type { SubAgentWorker } from "./worker-process.ts";

/** Requests that wait for their turn; one more is refused. */
export const MAX_QUEUED_REQUESTS = 100;
const PRIORITIES = ["high", "medium", "low"] as const;

export type OwnedSubAgent = SubAgent & {
  /** Whose request it is; undefined for one that there never was. */
  readonly ownerOf: (requestId: string) => string | undefined;
  /** Newest first. */
  readonly list: (owner: string) => readonly SubAgentStatus[];
  /** Whether a request that has not ended asks a person exactly this. */
  readonly asks: (serverId: string, about: Json) => boolean;
  readonly close: () => Promise<void>;
};

export type SubAgentDeps = {
  readonly requests: SubAgentRequests;
  readonly worker: SubAgentWorker;
  readonly desk: SubAgentHost;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whose the requests of the loop itself are. */
  readonly owner: string;
  readonly onProgress?: (status: SubAgentStatus, owner: string) => void;
};

type Active = {
  readonly kept: KeptRequest;
  readonly meter: Meter;
  readonly ended: AbortController;
  done: Promise<void>;
};

/** Reads what earlier processes left; what was under way then is queued again. */
export async function openSubAgent(deps: SubAgentDeps): Promise<OwnedSubAgent> {
  const { requests, worker, desk, clock, logger, onProgress } = deps;
  const known = new Map<string, KeptRequest>();
  const messages = createMessages();
  const listeners = new Set<() => void>();
  const resumers: (() => void)[] = [];
  let active: Active | undefined;
  let isRunning = false;
  let listening = new AbortController();
  let isPaused = false;
  /** What is under way may go on to its end. */
  let mayFinish = false;

  for (const kept of await requests.load()) {
    const { status } = kept;
    const again = status.state === "in_progress" ? { ...kept, status: { ...status, state: "queued" as const } } : kept;
    known.set(status.requestId, again);
  }

  return {
    start: () => {
      isRunning = true;
      listening = new AbortController();
      for (const kept of known.values()) if (kept.status.state === "awaiting_approval") hear(kept);
      next();
    },
    stop: async () => {
      isRunning = false;
      listening.abort();
      active?.ended.abort(new Stopped());
      wake();
      await active?.done;
      await worker.close();
    },
    pause: (how) => {
      isPaused = true;
      mayFinish = how === "finish";
      for (const { request } of queued()) change(request.id, { message: WAITS_FOR_ENERGY });
      if (how === "cancel" && active !== undefined) cancel(active.kept.request.id, "energy is low");
    },
    resume: () => {
      isPaused = false;
      for (const { request } of queued()) change(request.id, { message: WAITS_FOR_TURN });
      wake();
      next();
    },
    sendRequest: async (given, owner = deps.owner) => {
      const read = SubAgentRequest.safeParse(given);
      if (!read.success) throw usageError("input_invalid", `Not a request to the sub-agent: ${read.error.message}`);
      const request = read.data;
      checkParams(request);
      if (known.has(request.id)) return request.id;
      if (queued().length >= MAX_QUEUED_REQUESTS)
        throw usageError(
          "not_available",
          `The sub-agent has ${String(MAX_QUEUED_REQUESTS)} requests to do already; try again later.`,
          {
            retryable: true,
          },
        );
      const status = {
        requestId: request.id,
        state: "queued",
        progress: 0,
        message: isPaused ? WAITS_FOR_ENERGY : WAITS_FOR_TURN,
        energyConsumed: 0,
      } as const;
      const kept: KeptRequest = { request, owner, status, drained: 0 };
      await requests.put(kept);
      known.set(request.id, kept);
      tell(kept, "status_update");
      next();
      return request.id;
    },
    getStatus: (requestId) => shown(known.get(requestId)),
    ownerOf: (requestId) => known.get(requestId)?.owner,
    list: (owner) =>
      [...known.values()]
        .filter((kept) => kept.owner === owner)
        .map((kept) => shown(kept) ?? kept.status)
        .reverse(),
    asks: (serverId, about) => {
      const said = canonicalJson({ serverId, about });
      return [...known.values()].some(({ status, prepared }) => {
        if (prepared === undefined || ENDED.has(status.state)) return false;
        return canonicalJson({ serverId: prepared.serverId, about: prepared.about }) === said;
      });
    },
    cancelRequest: cancel,
    pollMessages: messages.take,
    getSubAgentEnergyConsumption: () => {
      let units = 0;
      for (const kept of known.values()) {
        const consumed = shown(kept)?.energyConsumed ?? 0;
        if (consumed <= kept.drained) continue;
        units += consumed - kept.drained;
        keep({ ...kept, drained: consumed });
      }
      return units;
    },
    hasActiveWork: () => active !== undefined,
    onNews: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => {
      await worker.close();
      await requests.close();
    },
  };

  function queued(): KeptRequest[] {
    return [...known.values()].filter(({ status }) => status.state === "queued");
  }

  /** What a process that died had prepared first, then the highest priority, the oldest among equals. */
  function next(): void {
    if (!isRunning || isPaused || active !== undefined) return;
    const waiting = queued();
    const ranked = PRIORITIES.flatMap((priority) => waiting.filter(({ request }) => request.priority === priority));
    const chosen = waiting.find(({ prepared }) => prepared !== undefined) ?? ranked[0];
    if (chosen === undefined) return;
    const meter = createMeter(chosen.request.type, () => clock.monotonic(), chosen.status.energyConsumed);
    const mine: Active = { kept: chosen, meter, ended: new AbortController(), done: Promise.resolve() };
    active = mine;
    mine.done = carryOut(mine).finally(() => {
      active = undefined;
      next();
    });
  }

  async function carryOut({ kept, meter, ended }: Active): Promise<void> {
    const { id } = kept.request;
    change(id, { state: "in_progress", message: "It has begun." });
    try {
      const outcome = await handle(kept, desk, {
        stage: async (progress, message) => {
          ended.signal.throwIfAborted();
          if (isPaused && !mayFinish) {
            meter.pause();
            change(id, { message: WAITS_FOR_ENERGY });
            await new Promise<void>((resume) => resumers.push(resume));
            meter.resume();
            ended.signal.throwIfAborted();
          }
          change(id, { progress, message, energyConsumed: meter.reading() });
        },
        work: (kind, params) => worker.work(kind, params, ended.signal),
        undo: async (kind, params) => void (await worker.work(kind, params, new AbortController().signal)),
        keep: (prepared) => keepPrepared(id, prepared),
      });
      await settle(id, outcome, meter.final(), ended.signal);
    } catch (thrown) {
      const energyConsumed = meter.end();
      const { reason } = ended.signal;
      if (reason instanceof Stopped)
        return change(id, { state: "queued", progress: 0, message: "It begins again.", energyConsumed });
      if (reason instanceof Cancelled)
        return change(id, { state: "cancelled", message: reason.message, energyConsumed }, "completion");
      const error = inWords(thrown);
      change(id, { state: "failed", message: error, error, energyConsumed }, "error");
    }
  }

  async function settle(
    id: string,
    { result, message, awaits }: Outcome,
    energyConsumed: number,
    signal: AbortSignal,
  ): Promise<void> {
    if (awaits === undefined)
      return change(id, { state: "completed", progress: 100, message, result, energyConsumed }, "completion");
    const kept = known.get(id);
    if (kept === undefined) return;
    if (signal.reason instanceof Cancelled) {
      await takeAway(kept);
      signal.throwIfAborted();
    }
    change(id, { state: "awaiting_approval", progress: 90, message, result, energyConsumed });
    hear(kept);
  }

  async function keepPrepared(id: string, prepared: Prepared | undefined): Promise<void> {
    const kept = known.get(id);
    if (kept === undefined) return;
    const { prepared: _before, ...rest } = kept;
    const now = prepared === undefined ? rest : { ...rest, prepared };
    known.set(id, now);
    await requests.put(now);
  }

  /** Waits for the person's answer; a later process hears it too. */
  function hear({ request, owner }: KeptRequest): void {
    const { signal } = listening;
    desk
      .answerTo({ requestId: request.id, owner }, signal)
      .then((answer) => answered(request.id, answer))
      .catch((thrown: unknown) => {
        if (!signal.aborted) logger.error({ requestId: request.id, error: inWords(thrown) }, "No answer can be heard.");
      });
  }

  async function answered(id: string, { approved, feedback = "" }: EnableAnswer): Promise<void> {
    const kept = known.get(id);
    if (kept?.status.state !== "awaiting_approval") return;
    const serverId = kept.prepared?.serverId ?? "";
    if (approved) {
      change(id, { state: "completed", progress: 100, message: `${serverId} may start.` }, "completion");
      tell(known.get(id) ?? kept, "tool_available");
      return;
    }
    const left = await takeAway(kept).then(
      () => "",
      (thrown: unknown) => ` What was installed could not be removed: ${inWords(thrown)}`,
    );
    const error = `A person refused ${serverId}${feedback === "" ? "." : `: ${feedback}`}${left}`;
    change(id, { state: "failed", message: error, error }, "error");
  }

  /** What was installed for a request that came to nothing. */
  async function takeAway({ request, prepared, owner }: KeptRequest): Promise<void> {
    await desk.withdraw({ requestId: request.id, owner });
    if (prepared === undefined || request.type !== "add_server") return;
    const { signal } = new AbortController();
    await removeAll(prepared.serverId, desk, async (kind, params) => void (await worker.work(kind, params, signal)));
  }

  function cancel(requestId: string, reason: string): boolean {
    const kept = known.get(requestId);
    if (kept === undefined || ENDED.has(kept.status.state)) return false;
    const cancelled = new Cancelled(`It was cancelled: ${reason}`);
    if (active?.kept.request.id === requestId) {
      active.ended.abort(cancelled);
      wake();
      return true;
    }
    // It may have been prepared by a process that was killed.
    if (kept.status.state === "awaiting_approval" || kept.prepared !== undefined)
      takeAway(kept).catch((thrown: unknown) => failed(thrown));
    change(requestId, { state: "cancelled", message: cancelled.message }, "completion");
    return true;
  }

  function change(id: string, changes: Partial<SubAgentStatus>, type: SubAgentMessage["type"] = "status_update"): void {
    const kept = known.get(id);
    if (kept === undefined) return;
    const changed = { ...kept, status: { ...kept.status, ...changes } };
    keep(changed);
    tell(changed, type);
  }

  function keep(kept: KeptRequest): void {
    known.set(kept.request.id, kept);
    const ended = [...known.values()].filter(({ status }) => ENDED.has(status.state));
    for (const { request } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED_REQUESTS))) known.delete(request.id);
    requests.put(kept).catch((thrown: unknown) => failed(thrown));
  }

  function failed(thrown: unknown): void {
    logger.error({ error: inWords(thrown) }, "What became of a request to the sub-agent could not be written.");
  }

  function tell(kept: KeptRequest, type: SubAgentMessage["type"]): void {
    const { request, status, owner } = kept;
    messages.add({ type, requestId: request.id, owner, data: { ...status, type: request.type } as Json });
    // That its tools are there is no further progress: the end was told before.
    if (type !== "tool_available") onProgress?.(status, owner);
    for (const listener of listeners) listener();
  }

  /** With what the work under way has consumed by now. */
  function shown(kept: KeptRequest | undefined): SubAgentStatus | undefined {
    if (kept === undefined) return undefined;
    if (active?.kept.request.id !== kept.request.id) return kept.status;
    return { ...kept.status, energyConsumed: Math.max(kept.status.energyConsumed, active.meter.reading()) };
  }

  function wake(): void {
    for (const resume of resumers.splice(0)) resume();
  }
}

const WAITS_FOR_TURN = "It waits for its turn.";
const WAITS_FOR_ENERGY = "It waits until there is energy again.";

class Stopped extends Error {}
class Cancelled extends Error {}
