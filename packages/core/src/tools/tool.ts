import type { z } from "zod";
import type { ChatModel } from "../ports/chat-model.ts";
import type { Embedder } from "../ports/embedder.ts";
import type { Logger } from "../ports/logger.ts";
import type { ISandboxService } from "../ports/sandbox.ts";
import type { ToolIdentity } from "../schema/approval.ts";
import type { BlobRef } from "../schema/blob.ts";
import type { JsonSchema } from "../schema/values/json.ts";
import type { GivenAnswer } from "../schema/question.ts";
import type { Effects, ProgressUpdate, ToolSummary } from "../schema/tool.ts";

/**
 * The one internal form of a tool. Specs 1, 2, 4 and 5 each have an authoring form; `adapt/` turns each into this.
 * What is needed to list, plan and preflight is here at once; what is needed to run comes from `body`, which may
 * load code at first call.
 */
export type Tool = Readonly<Omit<ToolSummary, "estimatedEnergyUnits">> & {
  /** Where it comes from (a file, a server, a call), so that a message can name it. */
  readonly source?: string;
  /** Names that call it too, and are shown nowhere. */
  readonly aliases?: readonly string[];
  /** A fixed price; without it a call costs by its time. */
  readonly energyUnits?: number;
  /** A guess for a call that costs by its time, where its author gave one. */
  readonly estimatedEnergyUnits?: number;
  readonly timeoutMs?: number;
  /** How long a success stands for the same call in the same session; absent means never. */
  readonly freshForMs?: number;
  readonly usesAI: boolean;
  /** A call may destroy something: a person is asked first. */
  readonly destructiveHint?: boolean;
  /** A person is asked each time, whatever was allowed before. */
  readonly alwaysAsk?: boolean;
  readonly parameters: JsonSchema;
  /** Its author's Zod schema, where it has one. */
  readonly argsSchema?: z.ZodType;
  readonly effects: Effects;
  /** What a person relies on when approving a tool of an MCP server; absent for tools of other origins. */
  readonly hub?: HubFacts;
  /** The gate asks once per tool and keeps the answer; a failed load is asked again at the next call. */
  readonly body: () => ToolBody | Promise<ToolBody>;
};

type HubFacts = {
  readonly serverId: string;
  readonly fingerprint: string;
  /** What the fingerprint is of, to say what changed. */
  readonly identity: ToolIdentity;
};

export type ToolBody = {
  /** Returns the validated args, coerced and defaulted by the schema, or all issues. Never changes its input. */
  readonly validateArgs: (args: ToolArgs) => Validated<ToolArgs>;
  /** Gets plain JSON. Absent where any JSON will do. */
  readonly validateOutput?: (output: unknown) => Validated<unknown>;
  /**
   * The schema makes of its input what JSON cannot hold, or what it would not take again (dates, transforms): the gate
   * then keeps the input and validates once more when it calls.
   */
  readonly validatesAtCall?: boolean;
  readonly defaultArgs?: (context: ToolContext) => unknown;
  /** What it returns may be a promise or a value; what it throws becomes `tool_failed`. */
  readonly run: (call: ToolInvocation, run: ToolRun) => unknown;
};

export type ToolArgs = Readonly<Record<string, unknown>>;
export type ToolContext = Readonly<Record<string, unknown>>;

export type MaybePromise<T> = T | Promise<T>;

/** The three sources of spec 2, never mixed. */
export type ToolInvocation = {
  readonly args: ToolArgs;
  readonly context: ToolContext;
  readonly infrastructure: Infrastructure;
};

/** Handed to actions beside args and context; what is not there is absent. */
export type Infrastructure = {
  readonly supabase?: unknown;
  readonly sessionId?: string;
  /** The conversation that the session's work is for. */
  readonly conversationId?: string;
  readonly model?: ChatModel;
  readonly embedder?: Embedder;
};

/** What every tool function gets as its last argument. */
export type ToolRun = {
  readonly signal: AbortSignal;
  /** The principal it is called for: what it makes is theirs, and what is another's it must not show. */
  readonly owner: string;
  /** The same across automatic retries and crash recovery; a person's retry makes a new one. */
  readonly idempotencyKey: string;
  readonly progress: (update: ProgressUpdate) => void;
  readonly logger: Logger;
  /** Where code that came from elsewhere runs; what runs there ends with the call. */
  readonly sandbox: ISandboxService;
  /** The session's values as this call sees them: to look something up in, never to change. */
  readonly context: ToolContext;
  /** For what is no JSON, or too much of it: the result holds a reference. */
  readonly blobs: ToolBlobs;
  /** The folders whose files data tools may read, the first one first. */
  readonly dataRoots: readonly string[];
  /** Files and folders that no tool opens though they lie below those: Ergon's own. */
  readonly deniedPaths: readonly string[];
  /** What a person has answered to this call's questions (`input_required`). Absent: nobody can be asked. */
  readonly answers?: readonly GivenAnswer[];
};

/** Both throw `not_available` where the caller keeps no blobs. */
export type ToolBlobs = {
  /** Kept together with the result; of a call that fails nothing can be read. */
  readonly put: (bytes: Uint8Array, mediaType: string) => Promise<BlobRef>;
  /** Throws `blob_not_found` for what is not the caller's own: whoever writes arguments may name any blob. */
  readonly get: (ref: Pick<BlobRef, "$blob">) => Promise<Uint8Array>;
};

/** `path` is a JSON Pointer, "" for the whole value. */
export type Issue = { readonly path: string; readonly code: string; readonly message: string };
export type Validated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly Issue[] };
