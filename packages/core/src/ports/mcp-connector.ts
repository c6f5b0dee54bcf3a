import type { MCPServerConfig, ServerOffer, ServerQuestion } from "../schema/hub.ts";
import type { Json, JsonObject, JsonSchema } from "../schema/values/json.ts";
import type { GivenAnswer } from "../schema/question.ts";

/*
 * Connections to MCP servers, behind one type: how a server is started or reached, which protocol it speaks and how it is
 * kept alive are the adapter's.
 *
 * M1  `start` returns at once; what comes of it is told by `onChange` and shown by `report`.
 * M2  A server that falls is tried again for as long as it is wanted; after `stop` it never comes back.
 * M3  Its tools stay listed while it is down.
 * M4  A call is taken at most once: it is sent again only where the server did nothing for want of a session. One that was
 *     not sent fails with `server_down` or `server_busy`; one that was sent and whose answer never came with `answer_lost`;
 *     one that the server refused with `server_refused`; one that it cannot answer before a person has answered it with
 *     `input_required` and the question; one that its caller gave up with `cancelled`.
 * M5  A call with `once` that the server asked about while it was under way is still open then: made again under the same
 *     name with the answer, it goes on, and fails with `outcome_unknown` when it is open no longer.
 */
export type McpConnector = {
  readonly open: (server: OpenServer) => McpConnection;
};

export type OpenServer = {
  /** Every reference in it resolved. */
  readonly config: MCPServerConfig;
  /** Never shown to anybody, whatever the server prints. */
  readonly secrets: readonly string[];
  /** Those of them that are hidden in what the server answers, too; others may be what it is asked about. */
  readonly credentials?: readonly string[];
  readonly onChange: (report: ConnectionReport) => void;
  /** What it lists there is another thing than before. */
  readonly onOffersChanged?: (offer: ServerOffer) => void;
};

export type McpConnection = {
  readonly report: () => ConnectionReport;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
  /** Resolves when it is ready or has failed once. */
  readonly settled: () => Promise<void>;
  /** Tries now instead of at `nextTryAt`. */
  readonly wake: () => void;
  readonly call: (request: McpCall) => Promise<McpResult>;
  /** For its resources and prompts, as the protocol has them; fails as `call` does. */
  readonly ask: (question: ServerQuestion, signal?: AbortSignal) => Promise<Json>;
};

export type ConnectionState = "configured" | "starting" | "ready" | "degraded" | "down";

export type ConnectionReport = {
  readonly state: ConnectionState;
  readonly tools: readonly ListedTool[];
  /** What it has beside its tools; known once it was ready. */
  readonly offers?: readonly ServerOffer[];
  readonly lastPing: string | null;
  readonly nextTryAt?: string;
  /** Newest last. */
  readonly errors: readonly string[];
  readonly protocol?: "legacy" | "modern";
  readonly version?: string;
  /** What it printed last. */
  readonly log: readonly string[];
};

export type ListedTool = {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: JsonObject;
};

export type McpCall = {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** What a person has answered to what the server asked. Absent: nobody can be asked, and questions are declined. */
  readonly answers?: readonly GivenAnswer[];
  /** Of a call that must not be repeated: its name, the same when it is made again with an answer. */
  readonly once?: string;
  readonly onProgress?: (update: { readonly fraction?: number; readonly message?: string }) => void;
};

export type McpResult = {
  readonly content: readonly McpContent[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
};

export type McpContent = { readonly type: string; readonly text?: string };
