/*
 * The MCP server behind every door: stdio, and both eras of Streamable HTTP. The SDK speaks the protocol; the surfaces
 * say what there is. An instance serves one connection of one principal (or one request, in the newer era).
 *
 * M1  What a tool throws is a result that says so (R5); only what is wrong with the request itself is a protocol error.
 * M2  Lists are the same for everybody; what a principal made shows to that principal alone.
 */
import { randomBytes } from "node:crypto";
import { isErgonError, type JsonObject, type Logger } from "@ergon/core";
import {
  type ClientCapabilities,
  type CompleteRequest,
  createRequestStateCodec,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ServerContext,
  type StandardSchemaV1,
} from "@modelcontextprotocol/server";
import { failure } from "../drive/answers.ts";
import type { McpChanges } from "./changes.ts";
import { canShowForms, capabilitiesOf } from "./client-features.ts";
import { FIRST_LEVEL, type LogLevel, logToClient } from "./client-log.ts";
import { tellConnection } from "./connection-changes.ts";
import type { Completions, McpCall, McpPrompt, McpResources, McpSurface, McpTool } from "./surface.ts";

/** Completions that one answer may hold, by the protocol. */
const MAX_COMPLETIONS = 100;
/** How long an answer to a question is waited for; the question itself stays open. */
const ANSWER_SECONDS = 3_600;
const KEY_BYTES = 32;

export type McpHostDeps = {
  readonly name: string;
  readonly version: string;
  readonly surfaces: readonly McpSurface[];
  readonly changes: McpChanges;
  readonly logger: Logger;
  /** Whether failures show stack traces (`FSDD_MCP_DEBUG`). */
  readonly debug: boolean;
};

type McpPeer = {
  readonly owner: string;
  readonly era: "legacy" | "modern";
  /** Whether the instance serves a connection; else it serves one request. */
  readonly stays: boolean;
  /** What the client said of itself when it connected, in the era in which it does. */
  readonly capabilities: () => ClientCapabilities | undefined;
  /** Whether its user may approve calls; asked each time. */
  readonly mayApprove: () => boolean;
};

export type McpHost = {
  readonly serverFor: (peer: McpPeer) => McpServer;
  readonly changes: McpChanges;
  readonly logger: Logger;
};

export function createMcpHost({ name, version, surfaces, changes, logger, debug }: McpHostDeps): McpHost {
  const info = { name, version };
  const tools = (): readonly McpTool[] => named(surfaces.flatMap((surface) => surface.tools?.() ?? []));
  const prompts = async (): Promise<readonly McpPrompt[]> => {
    const lists = await Promise.all(surfaces.map(async (surface) => surface.prompts?.() ?? []));
    return named(lists.flat());
  };
  const resources: readonly McpResources[] = surfaces.flatMap((surface) => surface.resources ?? []);
  const key = randomBytes(KEY_BYTES);
  const codecFor = (owner: string) =>
    createRequestStateCodec({ key, ttlSeconds: ANSWER_SECONDS, bind: ({ mcpReq }) => `${mcpReq.method}\0${owner}` });
  const prepared = async (): Promise<void> => {
    for (const { prepare } of surfaces) await prepare?.();
  };
  let known: ReadonlyMap<string, McpTool> | undefined;
  const toolNamed = (wanted: string): McpTool | undefined => {
    known ??= new Map(tools().map((tool) => [tool.definition.name, tool]));
    return known.get(wanted);
  };
  changes.listen(({ kind }) => {
    if (kind === "list") known = undefined;
  });

  return { serverFor, changes, logger };

  function serverFor(peer: McpPeer): McpServer {
    const { owner, era, stays } = peer;
    const product = new McpServer(info, {
      instructions: INSTRUCTIONS,
      requestState: { verify: (state, context) => codecFor(owner).verify(state, context) },
      inputRequired: { roundTimeoutMs: ANSWER_SECONDS * 1_000 },
    });
    const { server } = product;
    server.registerCapabilities(CAPABILITIES);
    let level: LogLevel | undefined = era === "legacy" ? FIRST_LEVEL : undefined;

    const callOf = (context: ServerContext, logger = "ergon"): McpCall => {
      const { mcpReq } = context;
      const { progressToken } = mcpReq._meta ?? {};
      return {
        owner,
        signal: mcpReq.signal,
        canAsk: canShowForms(capabilitiesOf(context, peer.capabilities())),
        mayApprove: peer.mayApprove,
        answers: mcpReq.inputResponses,
        remembered: () => mcpReq.requestState(),
        remember: (value) => codecFor(owner).mint(value, context),
        wantsProgress: progressToken !== undefined,
        progress: (update) => {
          if (progressToken === undefined) return;
          const params = { ...update, progressToken };
          mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
        },
        log: (at, data) => logToClient(context, level, { level: at, logger, data }),
        context,
      };
    };

    server.setRequestHandler("tools/list", async () => {
      await prepared();
      return { tools: tools().map(({ definition }) => definition) };
    });
    server.setRequestHandler("tools/call", { params: CALL_PARAMS }, async (params, context) => {
      if (toolNamed(params.name) === undefined) await prepared();
      const tool = toolNamed(params.name);
      if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
      const args = params.arguments ?? {};
      try {
        const result = await tool.call(args, callOf(context, params.name));
        logger.info({ tool: params.name, principal: owner, args, result }, "A tool was called over MCP.");
        return result;
      } catch (error) {
        if (error instanceof ProtocolError) throw error;
        const fields = { tool: params.name, principal: owner, args, error };
        if (isErgonError(error)) logger.info(fields, "A tool called over MCP failed.");
        else logger.error(fields, "A tool called over MCP failed for no known reason.");
        return failure(error, debug);
      }
    });
    server.setRequestHandler("prompts/list", async () => ({
      prompts: (await prompts()).map(({ definition }) => definition),
    }));
    server.setRequestHandler("prompts/get", async ({ params }, context) => {
      const prompt = await promptNamed(params.name);
      const args = params.arguments ?? {};
      const missing = prompt.definition.arguments?.find(({ name: wanted, required }) => required && !(wanted in args));
      if (missing !== undefined) {
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The prompt needs the argument "${missing.name}".`);
      }
      return await orRefused(() => prompt.get(args, callOf(context)));
    });
    server.setRequestHandler("resources/list", async (_, context) => {
      const lists = await Promise.all(resources.map(({ list }) => list(callOf(context))));
      return { resources: lists.flat() };
    });
    server.setRequestHandler("resources/templates/list", async () => ({
      resourceTemplates: (await Promise.all(resources.map(async ({ templates }) => templates()))).flat(),
    }));
    server.setRequestHandler("resources/read", async ({ params }, context) => {
      for (const { read } of resources) {
        const found = await orRefused(() => read(params.uri, callOf(context)));
        if (found !== undefined) return found;
      }
      throw new ResourceNotFoundError(params.uri);
    });
    server.setRequestHandler("completion/complete", async ({ params }, context) => {
      const { values, total = values.length, hasMore = false } = await complete(params, callOf(context));
      const shown = values.slice(0, MAX_COMPLETIONS);
      return { completion: { values: shown, total, hasMore: hasMore || values.length > shown.length } };
    });
    if (!stays) return product;
    const connection = tellConnection(product, changes, { owner, allToolsReady: era === "modern" });
    if (era === "modern") return product;

    server.setRequestHandler("logging/setLevel", ({ params }) => {
      ({ level } = params);
      return {};
    });
    server.setRequestHandler("resources/subscribe", async ({ params }) => {
      await connection.subscribe(params.uri);
      return {};
    });
    server.setRequestHandler("resources/unsubscribe", ({ params }) => {
      connection.unsubscribe(params.uri);
      return {};
    });
    return product;
  }

  async function promptNamed(wanted: string): Promise<McpPrompt> {
    // One after the other: a server that hangs keeps nobody from what is ours.
    for (const surface of surfaces) {
      const prompt = (await surface.prompts?.())?.find(({ definition }) => definition.name === wanted);
      if (prompt !== undefined) return prompt;
    }
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${wanted}`);
  }

  async function complete(params: CompleteRequest["params"], call: McpCall): Promise<Completions> {
    const { ref, argument, context } = params;
    const begun = { ...argument, given: context?.arguments ?? {} };
    if (ref.type === "ref/prompt")
      return (await (await promptNamed(ref.name)).complete?.(begun, call)) ?? NO_COMPLETIONS;
    for (const one of resources) {
      const found = await one.complete(ref.uri, begun, call);
      if (found !== undefined) return found;
    }
    return NO_COMPLETIONS;
  }
}

/** What comes first has its name: a server's cannot take that of one of ours. */
function named<T extends { readonly definition: { readonly name: string } }>(all: readonly T[]): readonly T[] {
  const first = new Map<string, T>();
  for (const one of all) if (!first.has(one.definition.name)) first.set(one.definition.name, one);
  return [...first.values()];
}

/** A read has no result that could say what went wrong; its error says it, with the code that everybody else gets. */
async function orRefused<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!isErgonError(thrown)) throw thrown;
    const { code, message, retryable, details } = thrown;
    throw new ProtocolError(ProtocolErrorCode.InternalError, message, { ...details, code, retryable });
  }
}

type CallParams = { readonly name: string; readonly arguments?: JsonObject };

/** The SDK asks its own schema about every call of a tool before a handler has it; once is enough. What it hands on is raw. */
const CALL_PARAMS: StandardSchemaV1<unknown, CallParams> = {
  "~standard": {
    version: 1,
    vendor: "ergon",
    validate: (given) => {
      const params = given as CallParams;
      const isOdd = params.arguments !== undefined && Object.hasOwn(params.arguments, "__proto__");
      return isOdd ? { issues: [{ message: 'No argument is named "__proto__".' }] } : { value: params };
    },
  },
};

const NO_COMPLETIONS: Completions = { values: [] };

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};

const INSTRUCTIONS =
  "Ergon runs plans durably and refines work until it is good enough. " +
  "To refine: initialize_refinement_loop, produce a draft, have it scored, decide_loop_next_action with the score; obey its status. " +
  "To have something answered in plain words: ask. " +
  "To run a plan: its own plan_… tool, or run_plan. A run goes on by itself; get_session finds it again, resume_session answers its questions.";
