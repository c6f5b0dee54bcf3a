import type { JsonObject } from "@ergon/core";
import type {
  CallToolResult,
  GetPromptResult,
  InputRequiredResult,
  Progress,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  ServerContext,
  Tool,
} from "@modelcontextprotocol/server";
import type { LogLevel } from "./client-log.ts";

/** What an MCP client sees: each group of features gives one, and the server shows them together. */
export type McpSurface = {
  /** Resolves when what it shows is what there is, or in a while at the latest. */
  readonly prepare?: () => Promise<void>;
  /** In the order of the list; what changes is announced. */
  readonly tools?: () => readonly McpTool[];
  readonly prompts?: () => readonly McpPrompt[] | Promise<readonly McpPrompt[]>;
  readonly resources?: McpResources;
};

export type McpTool = {
  readonly definition: Tool;
  /** What it throws becomes a result that says so; a ProtocolError passes as it is. */
  readonly call: (args: JsonObject, call: McpCall) => Promise<CallToolResult | InputRequiredResult>;
};

export type McpPrompt = {
  readonly definition: Prompt;
  readonly get: (
    args: Readonly<Record<string, string>>,
    call: McpCall,
  ) => Promise<GetPromptResult | InputRequiredResult>;
  readonly complete?: (begun: BegunArgument, call: McpCall) => Completions | Promise<Completions>;
};

/** An argument whose beginning a person has typed, and the others as far as they are there. */
export type BegunArgument = {
  readonly name: string;
  readonly value: string;
  readonly given: Readonly<Record<string, string>>;
};

/** What it could become; `total` and `hasMore` where it is known that these are not all. */
export type Completions = {
  readonly values: readonly string[];
  readonly total?: number | undefined;
  readonly hasMore?: boolean | undefined;
};

export type McpResources = {
  readonly templates: () => readonly ResourceTemplateType[] | Promise<readonly ResourceTemplateType[]>;
  readonly list: (call: McpCall) => Promise<readonly Resource[]>;
  /** Undefined when it is none of these, or not the caller's. */
  readonly read: (uri: string, call: McpCall) => Promise<ReadResourceResult | InputRequiredResult | undefined>;
  /** Undefined when the template is none of these. */
  readonly complete: (template: string, begun: BegunArgument, call: McpCall) => Promise<Completions | undefined>;
};

/** One request of a client, as tools, prompts and resources see it. */
export type McpCall = {
  readonly owner: string;
  /** Aborts when the client cancels or goes; a durable run goes on. */
  readonly signal: AbortSignal;
  /** Whether the client can put a form to its user. */
  readonly canAsk: boolean;
  /** Whether the user's yes to a call counts that was asked for in a form: never for an `agent` token. */
  readonly mayApprove: () => boolean;
  /** What the user answered to the questions of an earlier round. */
  readonly answers: Readonly<Record<string, unknown>> | undefined;
  /** What the round before wanted remembered: signed, and bound to who asked. */
  readonly remembered: () => unknown;
  readonly remember: (value: JsonObject) => Promise<string>;
  /** Whether the client listens to progress. */
  readonly wantsProgress: boolean;
  readonly progress: (update: Progress) => void;
  readonly log: (level: LogLevel, data: JsonObject) => void;
  readonly context: ServerContext;
};
