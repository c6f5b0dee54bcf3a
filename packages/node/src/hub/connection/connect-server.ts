/*
 * One connection to one server, made once. Which server is wanted, and when to try again, is its caller's to know.
 */
import type {
  CallToolRequestParams,
  CallToolResult,
  Client,
  PriorDiscovery,
  RequestOptions,
  StreamableHTTPClientTransportOptions,
  Transport,
} from "@modelcontextprotocol/client";
import type * as sdkTypes from "@modelcontextprotocol/client";
import { isErgonError, type ErgonError } from "@ergon/core";
import { hubError, type ServerOffer } from "@ergon/core/hub";
import { authorizedFetch } from "../auth/authorized-fetch.ts";
import type { ServerLogin } from "../auth/server-login.ts";
import { fencedCommand, type FenceOptions, type ServerAccess } from "../process/fenced-command.ts";
import type { Guard } from "./guard.ts";
import { takeBareResults } from "../call/bare-results.ts";
import type { ServerEra } from "./known-eras.ts";
import { keepListening } from "./keep-listening.ts";
import { createPipeTransport } from "../transport/pipe-transport.ts";
import { resultSchema } from "../call/plain-result.ts";
import type { Elicit } from "../call/questions.ts";
import type { Sample } from "../call/sampling.ts";
import { sameOriginFetch } from "../transport/same-origin-fetch.ts";
import { lastWords, type ServerLog } from "../process/server-log.ts";
import { endWhenReplaced } from "./end-when-replaced.ts";
import { hadProgram, startServerProcess, type ServerCommand } from "../process/server-process.ts";

export type ServerAddress =
  | ({
      readonly kind: "command";
      readonly access?: ServerAccess | undefined;
      readonly fence?: FenceOptions | undefined;
    } & ServerCommand)
  | { readonly kind: "url"; readonly url: string; readonly headers: Readonly<Record<string, string>> };

export type ConnectionOptions = {
  readonly address: ServerAddress;
  readonly guard: Guard;
  readonly log: ServerLog;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** What an earlier connection found out about the server's protocol. */
  readonly era?: ServerEra | undefined;
  /** Absent where the server gets what its configuration says, and nothing else. */
  readonly login?: ServerLogin | undefined;
  readonly onListChanged: (list: ServerList) => void;
  /** Told before any call under way fails for it. */
  readonly onClosed: () => void;
  readonly elicit: Elicit;
  /** Absent where no model is lent to it; then this is why. */
  readonly sample: Sample | { readonly refusal: string };
};

export type ServerLink = {
  readonly client: Client;
  /** `inHeaders`: its schema wants some arguments to be said in headers, too. */
  readonly callTool: (
    params: CallToolRequestParams,
    options: RequestOptions,
    inHeaders: boolean,
  ) => Promise<CallToolResult>;
  readonly era: ServerEra;
  readonly version: string | undefined;
  /** How many messages have come from it. */
  readonly heard: () => number;
  /** Whether requests name a session that the server made for us. */
  readonly hasSession: () => boolean;
  /** Resolves when the connection is over; `whyClosed` says why. */
  readonly closed: Promise<void>;
  readonly whyClosed: () => string;
  readonly close: () => Promise<void>;
};

const CLIENT_NAME = "ergon";
const LIST_CHANGED_SETTLE_MS = 200;
const MAX_LIST_PAGES = 50;
/** Some old servers never answer what they do not know; waiting longer for them helps nobody. */
const PROBE_TIMEOUT_MS = 5_000;
/** Rounds of questions that one call may ask. */
const MAX_INPUT_ROUNDS = 8;
/** How a server on the newer protocol refuses a call over HTTP whose headers do not say what its schema wants. */
const HEADERS_MISSING = -32_020;

/** What a server lists, and tells of when it changes. */
type ServerList = "tools" | ServerOffer;
const LISTS: readonly ServerList[] = ["tools", "resources", "prompts"];

export async function connectServer(options: ConnectionOptions): Promise<ServerLink> {
  const sdk = await import("@modelcontextprotocol/client");
  try {
    return await attempt(sdk, options, options.era);
  } catch (thrown) {
    const endedWhenAsked = thrown instanceof sdk.SdkError && thrown.code === sdk.SdkErrorCode.EraNegotiationFailed;
    // A server that ends when it is asked for its era is an old one; its next process is greeted the old way.
    if (options.address.kind === "command" && options.era === undefined && endedWhenAsked) {
      return attempt(sdk, options, "legacy");
    }
    // One that was old may have been brought up to date since; then it is asked what it speaks.
    const refusesOldWay = options.address.kind === "url" || isProtocol(sdk, thrown);
    if (options.era === "legacy" && refusesOldWay && !options.signal.aborted) return attempt(sdk, options, undefined);
    throw thrown;
  }
}

type Sdk = typeof sdkTypes;

async function attempt(sdk: Sdk, options: ConnectionOptions, era: ServerEra | undefined): Promise<ServerLink> {
  const { address, signal, timeoutMs } = options;
  signal.throwIfAborted();
  if (address.kind === "command") {
    const { access, fence = { own: [] } } = address;
    const command =
      access === undefined ? { ...address, maskedFiles: [] } : await fencedCommand(address, access, fence);
    const server = await startServerProcess(command, options.guard);
    endWhenReplaced(command.maskedFiles, server);
    server.stderr.setEncoding("utf8").on("data", (text: string) => options.log.add(text));
    const transport = createPipeTransport(server, sdk.parseJSONRPCMessage);
    // A server that hangs at its start answers nobody, and is not waited for.
    signal.addEventListener("abort", () => void server.end(), { once: true });
    let howItEnded: string | undefined;
    const ended = server.ended.then((how) => (howItEnded = how));
    try {
      const whyClosed = (): string => transport.whyGivenUp() ?? howItEnded ?? CLOSED;
      return await greet(sdk, options, { transport, era, whyClosed });
    } catch (thrown) {
      // What the SDK says of a program that is gone is that its pipe is closed.
      const reason = howItEnded === undefined ? `${messageOf(thrown)} ` : "";
      await server.end();
      const how = transport.whyGivenUp() ?? (await ended);
      if (isNegotiation(sdk, thrown)) throw thrown;
      const said = hadProgram(how) ? lastWords(options.log.lines()) : undefined;
      const end = `${how}${said === undefined ? "" : `; it said: ${said}`}`;
      throw hubError("server_down", reason === "" ? end : `${reason}(${end})`, { cause: thrown });
    }
  }
  const { url, headers } = address;
  const requestInit = { headers: { ...headers } };
  const plainFetch = sameOriginFetch(url);
  const fetch = options.login === undefined ? plainFetch : authorizedFetch(plainFetch, options.login, signal);
  const whyClosed = () => CLOSED;
  try {
    const transport = new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit, fetch });
    return await greet(sdk, options, { transport, era, whyClosed });
  } catch (thrown) {
    // A person who logs in takes longer than any server may for its answer.
    if (options.login?.pending() !== undefined) {
      await options.login.pending();
      return attempt(sdk, options, era);
    }
    if (!speaksOnlySse(sdk, thrown)) throw ownError(thrown) ?? thrown;
    signal.throwIfAborted();
    const transport = new (oldTransport(sdk))(new URL(url), { requestInit, fetch });
    return greet(sdk, { ...options, timeoutMs }, { transport, era: "legacy", whyClosed });
  }
}

const CLOSED = "its connection was closed";

type OldTransport = new (url: URL, options: StreamableHTTPClientTransportOptions) => Transport;

/** The SDK would rather that nobody used it; servers that speak nothing else are still out there. */
function oldTransport(sdk: Sdk): OldTransport {
  const { SSEClientTransport } = sdk as Record<string, unknown>;
  return SSEClientTransport as OldTransport;
}

type Greeting = {
  readonly transport: Transport;
  readonly era: ServerEra | undefined;
  readonly whyClosed: () => string;
};

async function greet(
  sdk: Sdk,
  options: ConnectionOptions,
  { transport, era, whyClosed }: Greeting,
): Promise<ServerLink> {
  const { elicit, sample, signal, timeoutMs } = options;
  const client = new sdk.Client(
    { name: CLIENT_NAME, version: "0.1.0" },
    {
      capabilities: {
        elicitation: { form: { applyDefaults: true }, url: {} },
        ...(typeof sample === "function" ? { sampling: {} } : {}),
      },
      versionNegotiation: { mode: "auto", probe: { timeoutMs: probeTimeoutMs(options) } },
      inputRequired: { maxRounds: MAX_INPUT_ROUNDS },
      listMaxPages: MAX_LIST_PAGES,
      listChanged: Object.fromEntries(
        LISTS.map((list) => {
          const onChanged = (): void => options.onListChanged(list);
          return [list, { autoRefresh: false, debounceMs: LIST_CHANGED_SETTLE_MS, onChanged }];
        }),
      ),
      // The gate checks what comes back; compiling every schema here too would cost time and memory for nothing.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  );
  client.setRequestHandler("elicitation/create", (request, context) => elicit(request.params, context.mcpReq.signal));
  if (typeof sample === "function")
    client.setRequestHandler("sampling/createMessage", (request, context) =>
      sample(request.params, context.mcpReq.signal),
    );
  client.fallbackRequestHandler = ({ method }) => {
    const isSampling = method.startsWith("sampling/") && typeof sample !== "function";
    const message = isSampling ? sample.refusal : `Ergon does not answer ${method}.`;
    return Promise.reject(new sdk.ProtocolError(sdk.ProtocolErrorCode.MethodNotFound, message));
  };
  let heard = 0;
  takeBareResults(transport, () => (heard += 1));
  const closed = new Promise<void>((resolve) => {
    client.onclose = () => {
      options.onClosed();
      resolve();
    };
  });
  client.onerror = (error) => options.log.add(`${error.message}\n`);
  const prior: { prior?: PriorDiscovery } = era === "legacy" ? { prior: { kind: "legacy" } } : {};
  try {
    await client.connect(transport, { signal, timeout: timeoutMs, ...prior });
  } catch (thrown) {
    await client.close().catch(() => undefined);
    throw thrown;
  }
  const spoken = client.getProtocolEra() === "modern" ? "modern" : "legacy";
  if (spoken === "modern") {
    const over = new AbortController();
    void closed.then(() => over.abort());
    const onAnyChanged = () => LISTS.forEach((list) => options.onListChanged(list));
    void keepListening(client, { onAnyChanged, over: over.signal });
  }
  const schema = resultSchema(sdk.specTypeSchemas.CallToolResult);
  // What the SDK's own does beside asking is about such headers, and about output schemas, which are the gate's.
  const mirrors = options.address.kind === "url" && spoken === "modern";
  const changed = new Set<string>();
  const asked: ServerLink["callTool"] = (params, given) =>
    client.request({ method: "tools/call", params }, schema, given);
  const mirrored: ServerLink["callTool"] = async (params, given, inHeaders) => {
    if (inHeaders || changed.has(params.name)) return client.callTool(params, given);
    try {
      return await asked(params, given, inHeaders);
    } catch (thrown) {
      const isRefused = thrown instanceof sdk.ProtocolError && thrown.code === HEADERS_MISSING;
      if (!isRefused) throw thrown;
      // Its schema is another one by now, and nothing was done.
      await client.listTools(undefined, { signal, timeout: timeoutMs, cacheMode: "refresh" });
      changed.add(params.name);
      return client.callTool(params, given);
    }
  };
  const version = client.getServerVersion()?.version;
  const callTool = mirrors ? mirrored : asked;
  return {
    client,
    callTool,
    era: spoken,
    version,
    heard: () => heard,
    hasSession: () => transport.sessionId !== undefined,
    closed,
    whyClosed,
    close: () => client.close(),
  };
}

/** Over HTTP whoever does not know a question says so. */
function probeTimeoutMs({ address, timeoutMs }: ConnectionOptions): number {
  return address.kind === "command" ? Math.min(timeoutMs, PROBE_TIMEOUT_MS) : timeoutMs;
}

/** Old servers know nothing of the newer transport and refuse its first request in one of these ways. */
function speaksOnlySse(sdk: Sdk, thrown: unknown): boolean {
  return thrown instanceof sdk.SdkHttpError && [400, 404, 405, 406, 415].includes(thrown.status ?? 0);
}

function isNegotiation(sdk: Sdk, thrown: unknown): boolean {
  return thrown instanceof sdk.SdkError && thrown.code === sdk.SdkErrorCode.EraNegotiationFailed;
}

/** The server was there, and answered that this is not how it is spoken to. */
function isProtocol(sdk: Sdk, thrown: unknown): boolean {
  return thrown instanceof Error && [thrown, thrown.cause].some((error) => error instanceof sdk.ProtocolError);
}

/** What our own fetch refused, out of what the SDK has wrapped it in. */
export function ownError(thrown: unknown): ErgonError | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < MAX_CAUSES; error = error.cause, depth += 1) {
    if (isErgonError(error)) return error;
  }
  return undefined;
}

const MAX_CAUSES = 8;

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : "It could not be reached.";
}
