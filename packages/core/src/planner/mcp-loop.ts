/*
 * The planner loop of spec 1: load context, plan, execute, finalize. Planning is somebody else's (an injected strategy),
 * running is the engine's; this file only leads from one to the other.
 *
 * O1  A request that cannot be read is refused before anything happens (`request_invalid`).
 * O2  Nothing runs before every tool of the plan is known to exist; unknown ones are left out and reported, or refuse
 *     the run when it is strict.
 * O3  A tool that fails is recorded and the run goes on; strict, it ends the run. A run never waits on an error.
 * O4  Arguments that do not fit end the run with an error that names the tool and every issue.
 * O5  Context and memory are best-effort: what they lack is a warning.
 */
import type { ErgonError } from "../errors/ergon-error.ts";
import { usageError } from "../errors/usage.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import type { Clock } from "../ports/clock.ts";
import type { ConversationMemory } from "../ports/conversation-memory.ts";
import type { Embedder } from "../ports/embedder.ts";
import type { Ids } from "../ports/ids.ts";
import type { Logger } from "../ports/logger.ts";
import type { StateStore } from "../ports/state-store.ts";
import { createSystemClock } from "../memory/clock.ts";
import { createConversationMemory } from "../memory/conversation-memory.ts";
import { createHashEmbedder } from "../memory/hash-embedder.ts";
import { createIds } from "../memory/ids.ts";
import { silentLogger } from "../memory/logger.ts";
import type { MCPResponse } from "../schema/mcp-loop.ts";
import type { ToolPolicy } from "../tools/gate/policy.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { DEFAULT_OWNER } from "../tools/spec-tool.ts";
import type { Infrastructure } from "../tools/tool.ts";
import { createCarriedContext } from "./turn/carried-context.ts";
import { choosePlanner } from "./choose-planner.ts";
import type { RunPlace } from "./turn/execute-actions.ts";
import { createToolOffer } from "./llm/offer-tools.ts";
import type { Planner } from "./planner.ts";
import { type LoopRequest, readRequest } from "./read-request.ts";
import type { EntitySource } from "./tool-entities.ts";
import { createOwnPlaces } from "./turn/run-place.ts";
import { type Attempt, type LoopParts, runTurn } from "./turn/run-turn.ts";

export type LoopDeps = {
  readonly registry?: ToolRegistry;
  readonly planner?: Planner;
  readonly model?: ChatModel;
  readonly embedder?: Embedder;
  readonly memory?: ConversationMemory;
  /** Names that the offline planner recognises in messages. */
  readonly entities?: EntitySource;
  /** Keeps sessions beyond their runs. */
  readonly store?: StateStore;
  /** Keeps values over 64 KiB. A store that outlives the program needs it, else they would be lost with the program. */
  readonly blobs?: BlobStore;
  /** Runs plans in place of an engine of the loop's own: then sessions are that engine's. */
  readonly place?: RunPlace;
  /** Decides which calls may be made; without it, tools that may destroy something are refused. */
  readonly policy?: ToolPolicy;
  /** What actions get beside args and context: a Supabase client, say. */
  readonly infrastructure?: Omit<Infrastructure, "sessionId">;
  readonly strict?: boolean;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly logger?: Logger;
};

export type LoopOptions = {
  readonly owner?: string;
  readonly signal?: AbortSignal;
};

/** Spec 1's loop with its parts injected; every part has a default that needs no network. */
export class McpLoopRunner {
  readonly #parts: LoopParts;

  constructor(deps: LoopDeps = {}) {
    const { registry = ToolRegistry.default, clock = createSystemClock(), logger = silentLogger } = deps;
    const ids = deps.ids ?? createIds({ clock });
    const { model, store, blobs, policy } = deps;
    if (store !== undefined && blobs === undefined && store.isVolatile !== true) throw storeWithoutBlobs();
    const embedder = deps.embedder ?? createHashEmbedder();
    const offer = createToolOffer({ embedder });
    const infrastructure = { ...(model === undefined ? {} : { model }), embedder, ...deps.infrastructure };
    this.#parts = {
      registry,
      clock,
      ids,
      logger,
      embedder,
      offer,
      planner: choosePlanner({ planner: deps.planner, model, offer, embedder, entities: deps.entities, clock }),
      memory: deps.memory ?? createConversationMemory(),
      strict: deps.strict ?? false,
      place: deps.place,
      own:
        deps.place === undefined
          ? createOwnPlaces({ registry, model, store, blobs, policy, infrastructure, clock, ids, logger })
          : undefined,
      keepsSessions: deps.place !== undefined || store !== undefined,
      carried: createCarriedContext(),
    };
  }

  /** Throws for a request that cannot be read, for arguments that do not fit and, when strict, for unknown tools. */
  async run(request: LoopRequest, options: LoopOptions = {}): Promise<MCPResponse> {
    const { response, thrown } = await this.attempt(request, options);
    if (thrown !== undefined) throw thrown;
    return response;
  }

  /** As `run`, for doors that answer a failed run instead of throwing it. Throws only `request_invalid`. */
  async attempt(request: LoopRequest, options: LoopOptions = {}): Promise<Attempt> {
    const read = readRequest(request);
    return runTurn(this.#parts, read, { owner: options.owner ?? DEFAULT_OWNER, signal: options.signal });
  }
}

function storeWithoutBlobs(): ErgonError {
  const message =
    "McpLoopRunner: the store keeps sessions beyond this program, but values over 64 KiB would be lost with it. Pass `blobs` beside `store`, for example openFileBlobStore of @ergon/node.";
  return usageError("input_invalid", message);
}

/** Spec 1's entry. What one session's turns leave for its next ones is kept as long as the registry lives. */
export async function runMcpLoop(request: LoopRequest, deps: LoopDeps = {}): Promise<MCPResponse> {
  const registry = deps.registry ?? ToolRegistry.default;
  const memory = deps.memory ?? memories.get(registry) ?? createConversationMemory();
  if (deps.memory === undefined) memories.set(registry, memory);
  return new McpLoopRunner({ ...deps, registry, memory }).run(request);
}

const memories = new WeakMap<ToolRegistry, ConversationMemory>();
