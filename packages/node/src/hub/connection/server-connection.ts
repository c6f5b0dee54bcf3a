/*
 * One server, for as long as it is wanted: started, listed, watched, and started again when it falls.
 *
 * C1  Whether it is wanted is asked before each try: a server that was removed never comes back.
 * C2  It is tried again for ever, after ever longer pauses up to a cap, and says when.
 * C3  Its tools stay known while it is down: plans that name them can be checked, and calls fail with `server_down`.
 * C4  A call goes to the server that is connected now, or waits for it a little. It is sent again only to a server that
 *     did nothing for want of a session, and then once.
 * C5  A connection that is lost takes no new calls; those under way go on in it for as long as they may.
 */
import type { ChatModel, Logger } from "@ergon/core";
import {
  backoffMs,
  hubError,
  type ConnectionReport,
  type ConnectionState,
  type ListedTool,
  type McpConnection,
  type ServerOffer,
} from "@ergon/core/hub";
import { askServer } from "../call/ask-server.ts";
import { callFailure, type Loss } from "../call/call-failure.ts";
import type { CallSlots } from "../call/call-slots.ts";
import { createCallTurns, type HeldLink } from "../call/call-turns.ts";
import { createCallsUnderWay } from "../call/calls-under-way.ts";
import { connectServer, type ConnectionOptions } from "./connect-server.ts";
import type { ServerEra } from "./known-eras.ts";
import { listTools } from "./list-tools.ts";
import { createQuestions, type Elicit } from "../call/questions.ts";
import { createSampling, type Sampling } from "../call/sampling.ts";
import { sendCall } from "../call/send-call.ts";
import { createServerLog } from "../process/server-log.ts";
import { unlessAborted } from "../call/unless-aborted.ts";
import { HEALTH_LIMITS, watchHealth, type HealthLimits } from "./watch-health.ts";

export type ServerConnectionDeps = Pick<ConnectionOptions, "address" | "guard" | "login"> & {
  readonly elicit?: Elicit | undefined;
  /** Lent to the server; else why none is. */
  readonly model: ChatModel | { readonly refusal: string };
  readonly serverId: string;
  readonly timeoutMs?: number | undefined;
  readonly redact: (text: string) => string;
  /** For what the server answers. */
  readonly redactValue: <T>(value: T) => T;
  readonly logger: Logger;
  readonly hubSlots: CallSlots;
  readonly era?: ServerEra | undefined;
  readonly health?: HealthLimits;
  /** Told which protocol it speaks, whenever it is there. */
  readonly onEra?: (era: ServerEra) => void;
  /** State or tools are other than before. */
  readonly onChange: (report: ConnectionReport) => void;
  readonly onOffersChanged?: ((offer: ServerOffer) => void) | undefined;
};

const START_TIMEOUT_MS = 60_000;
const CALL_TIMEOUT_MS = 60_000;
/** One that falls sooner after its start has failed once more in a row. */
export const STAYED_UP_MS = 60_000;
const MAX_KEPT_ERRORS = 10;
/** How a schema says that a value goes into a header. */
const IN_HEADER = "x-mcp-header";

export function createServerConnection(deps: ServerConnectionDeps): McpConnection {
  const { serverId, logger, onChange } = deps;
  const log = createServerLog(deps.redact);
  const { hubSlots, redact } = deps;
  const starting = (): Promise<void> | undefined => (state === "starting" ? tried.promise : undefined);
  const inTurn = createCallTurns({ serverId, redact, hubSlots, starting, connected, onLost: lose });
  const host = deps.address.kind === "url" ? new URL(deps.address.url).hostname : undefined;
  const questions = createQuestions({ serverId, host, note: log.add, present: deps.elicit });
  const { model } = deps;
  const sampling =
    "refusal" in model ? undefined : createSampling({ serverId, model, redact: deps.redact, note: log.add });
  const errors: string[] = [];
  let state: ConnectionState = "configured";
  let tools: readonly ListedTool[] = [];
  /** Tools some of whose arguments are said in headers, too. */
  let inHeaders: ReadonlySet<string> = new Set();
  let offers: readonly ServerOffer[] | undefined;
  let era = deps.era;
  let link: LosableLink | undefined;
  let lastPingMs: number | undefined;
  let nextTryMs: number | undefined;
  let wanted: AbortController | undefined;
  let living: Promise<void> = Promise.resolve();
  let wakeUp: () => void = () => undefined;
  let tried = Promise.withResolvers<void>();

  function report(): ConnectionReport {
    return {
      state,
      tools,
      lastPing: lastPingMs === undefined ? null : new Date(lastPingMs).toISOString(),
      errors: [...errors],
      log: log.lines(),
      ...(offers === undefined ? {} : { offers }),
      ...(nextTryMs === undefined ? {} : { nextTryAt: new Date(nextTryMs).toISOString() }),
      ...(era === undefined ? {} : { protocol: era }),
      ...(link?.version === undefined ? {} : { version: link.version }),
    };
  }

  function become(next: ConnectionState): void {
    state = next;
    onChange(report());
  }

  function note(thrown: unknown): void {
    const message = deps.redact(thrown instanceof Error ? thrown.message : "It failed and did not say why.");
    // The same again, at each try, would push everything else out.
    if (errors.at(-1) !== message) errors.push(message);
    if (errors.length > MAX_KEPT_ERRORS) errors.shift();
    logger.warn({ serverId, reason: message }, "an MCP server is not there");
  }

  async function live(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted;) {
      nextTryMs = undefined;
      become("starting");
      let end: ServiceEnd | undefined;
      try {
        end = await serve(signal);
        if (!signal.aborted) note(new Error(end.reason));
      } catch (thrown) {
        if (!signal.aborted) note(thrown);
      }
      await link?.close().catch(() => undefined);
      link = undefined;
      if (signal.aborted) break;
      const hasStayed = end !== undefined && end.upMs >= STAYED_UP_MS;
      failures = hasStayed ? 1 : failures + 1;
      const isSessionLost = end?.lost === "session";
      // The server is there, and somebody waits; a session that is lost again and again is a failure like any other.
      if (isSessionLost && failures === 1) continue;
      if (end === undefined || isSessionLost) nextTry();
      const waitMs = backoffMs(failures, Math.random());
      nextTryMs = Date.now() + waitMs;
      become("down");
      await pause(waitMs, signal);
    }
    nextTryMs = undefined;
    state = "configured";
  }

  /** Whoever waits for the outcome of a try has it; the next to wait waits for the next. */
  function nextTry(): void {
    tried.resolve();
    tried = Promise.withResolvers();
  }

  function fell(fallen: HeldLink | undefined, next: "down" | "starting"): void {
    if (fallen === undefined || link !== fallen || (state !== "ready" && state !== "degraded")) return;
    state = next;
    link = undefined;
    tried = Promise.withResolvers();
  }

  /** No call is sent there any more. */
  function lose(lostLink: HeldLink, loss: Loss, error: Error): void {
    if (link !== lostLink) return;
    const { lost } = link;
    fell(link, loss === "session" ? "starting" : "down");
    lost.resolve({ loss, reason: error.message });
  }

  /** Connected until it is over. Throws what keeps it from coming up. */
  async function serve(signal: AbortSignal): Promise<ServiceEnd> {
    const { address, guard, login } = deps;
    const timeoutMs = deps.timeoutMs ?? START_TIMEOUT_MS;
    let refresh: () => void = () => undefined;
    const held: { link?: LosableLink } = {};
    const made = await connectServer({
      address,
      guard,
      log,
      signal,
      timeoutMs,
      onListChanged: (list) => (list === "tools" ? refresh() : deps.onOffersChanged?.(list)),
      onClosed: () => fell(held.link, "down"),
      elicit: questions.elicit,
      sample: "refusal" in model ? model : (sampling as Sampling).sample,
      era,
      login,
    });
    const current = { ...made, calls: createCallsUnderWay(), lost: Promise.withResolvers<LinkLoss>() };
    held.link = current;
    link = current;
    era = made.era;
    deps.onEra?.(era);
    know(await listTools(made.client, { signal, timeoutMs }));
    const has = made.client.getServerCapabilities() ?? {};
    offers = (["resources", "prompts"] as const).filter((offer) => has[offer] !== undefined);
    const sinceMs = performance.now();
    lastPingMs = Date.now();
    become("ready");
    tried.resolve();
    refresh = () => void relist(current, signal);
    const health = watchHealth({
      link: current,
      calls: current.calls,
      limits: deps.health ?? HEALTH_LIMITS,
      signal,
      onHeard: () => {
        lastPingMs = Date.now();
        if (state === "degraded") become("ready");
      },
      onMissed: (thrown) => missed(current, thrown),
    });
    const end = await Promise.race([
      made.closed.then(() => ({ reason: gone(made.whyClosed()) })),
      health.failed.then((why) => ({ reason: gone(why) })),
      current.lost.promise.then(({ loss, reason }) => ({ reason, lost: loss })),
    ]);
    const upMs = performance.now() - sinceMs;
    health.stop();
    fell(current, "down");
    if ("lost" in end) void retire(current, signal);
    else await current.close().catch(() => undefined);
    return { ...end, upMs };
  }

  function gone(why: string): string {
    return `The server "${serverId}" is gone: ${why}.`;
  }

  async function missed(silent: HeldLink, thrown: unknown): Promise<void> {
    const { error, lost } = await callFailure(thrown, { serverId, redact: deps.redact, link: silent });
    if (link !== silent) return;
    if (lost !== undefined) return lose(silent, lost, error);
    note(thrown);
    if (state === "ready") become("degraded");
  }

  /** What is under way there may still be answered (C5). */
  async function retire(retired: HeldLink, signal: AbortSignal): Promise<void> {
    await unlessAborted(retired.calls.idle(), signal).catch(() => undefined);
    await retired.close().catch(() => undefined);
  }

  function know(listed: readonly ListedTool[]): void {
    tools = deps.redactValue(listed);
    const wanting = listed.filter(({ inputSchema }) => JSON.stringify(inputSchema).includes(`"${IN_HEADER}"`));
    inHeaders = new Set(wanting.map(({ name }) => name));
  }

  async function relist(listing: HeldLink, signal: AbortSignal): Promise<void> {
    try {
      const listed = await listTools(listing.client, { signal, timeoutMs: deps.timeoutMs ?? START_TIMEOUT_MS });
      if (link !== listing) return;
      know(listed);
      become("ready");
    } catch (thrown) {
      if (link !== listing || signal.aborted) return;
      note(thrown);
      become("degraded");
    }
  }

  function pause(waitMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      timer.unref();
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener("abort", () => wakeUp(), { once: true });
    });
  }

  function connected(): HeldLink {
    if (link !== undefined && (state === "ready" || state === "degraded")) return link;
    const again = nextTryMs === undefined ? "" : ` It is tried again at ${new Date(nextTryMs).toISOString()}.`;
    const why = errors.length === 0 ? "" : ` ${errors.at(-1) ?? ""}`;
    const details = { serverId, state };
    throw hubError("server_down", `The server "${serverId}" is not there.${why}${again}`, { retryable: true, details });
  }

  return {
    report,
    wake: () => wakeUp(),
    settled: () => tried.promise,
    start: () => {
      if (wanted !== undefined) return;
      wanted = new AbortController();
      living = live(wanted.signal);
    },
    stop: async () => {
      wanted?.abort();
      wanted = undefined;
      tried.resolve();
      await link?.close().catch(() => undefined);
      await living;
    },
    call: (request) =>
      questions.call(request, (asking) =>
        inTurn(asking.signal, (to) => {
          const timeoutMs = request.timeoutMs ?? deps.timeoutMs ?? CALL_TIMEOUT_MS;
          const sent = { ...request, asking, timeoutMs, inHeaders: inHeaders.has(request.name) };
          return sendCall(to, sent, { questions, sampling, redactValue: deps.redactValue });
        }),
      ),
    ask: (question, signal) =>
      inTurn(signal, async ({ client }) => {
        const timeout = deps.timeoutMs ?? CALL_TIMEOUT_MS;
        const options = signal === undefined ? { timeout } : { timeout, signal };
        return deps.redactValue(await askServer(client, question, options));
      }),
  };
}

type LosableLink = HeldLink & { readonly lost: PromiseWithResolvers<LinkLoss> };
type LinkLoss = { readonly loss: Loss; readonly reason: string };
type ServiceEnd = { readonly reason: string; readonly lost?: Loss; readonly upMs: number };
