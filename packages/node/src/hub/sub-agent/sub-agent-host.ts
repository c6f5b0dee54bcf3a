import { Json, JsonObject } from "@ergon/core";
import { canonicalJson } from "@ergon/core/schema";
import type { MCPServerConfig } from "@ergon/core/hub";
import { z } from "zod";
import type { WorkKind } from "./work.ts";

/** What the sub-agent may touch besides its own folder: the configuration, and a person's attention. */
export type SubAgentHost = {
  readonly list: () => Promise<readonly MCPServerConfig[]>;
  /** The server with its references resolved. */
  readonly resolve: (
    serverId: string,
  ) => Promise<{ readonly config: MCPServerConfig; readonly secrets: readonly string[] }>;
  /** Writes exactly this entry, switched off, and approves nothing else. Throws `server_duplicate` when its id is taken. */
  readonly add: (config: MCPServerConfig) => Promise<void>;
  readonly remove: (serverId: string) => Promise<void>;
  readonly change: (serverId: string, field: "enabled" | "timeoutMs", value: Json) => Promise<void>;
  /** Asks a person to let a server start; asked again for the same request, it answers with the same approval. */
  readonly askToEnable: (asked: EnableQuestion) => Promise<string>;
  /** What the person answered to the question of this request; waits for it. */
  readonly answerTo: (asked: Pick<EnableQuestion, "requestId" | "owner">, signal: AbortSignal) => Promise<EnableAnswer>;
  /** Takes a question back that nobody needs to answer any more. */
  readonly withdraw: (asked: Pick<EnableQuestion, "requestId" | "owner">) => Promise<void>;
  /** Names of variables that servers may refer to. */
  readonly environment: () => readonly string[];
  /** Whether the sub-agent installed it. */
  readonly isOwn: (config: MCPServerConfig) => boolean;
};

export type EnableQuestion = {
  readonly serverId: string;
  readonly requestId: string;
  readonly owner: string;
  readonly about: Json;
};

export type EnableAnswer = { readonly approved: boolean; readonly feedback?: string };

/**
 * What a person is asked about. It is kept before anything of it shows, so that a later process can take it away. No
 * configuration is kept: a request that goes on after a crash is prepared anew, because the file it is read from may have
 * come from elsewhere.
 */
export const Prepared = z.object({ serverId: z.string(), about: Json });
export type Prepared = z.infer<typeof Prepared>;

/** What an entry starts, as a person reads it before saying yes. */
export function whatStarts({ command = "", args = [], env = {}, access }: MCPServerConfig): JsonObject {
  return {
    command: [command, ...args],
    environment: Object.keys(env),
    network: access?.network !== false,
    ...(access === undefined ? {} : { access: access as JsonObject }),
  };
}

/** Whether the entry still is what a person was asked about. */
export function startsAsAsked(entry: MCPServerConfig, about: Json): boolean {
  const said = JsonObject.safeParse(about);
  const now = whatStarts(entry);
  return (
    said.success &&
    ABOUT_START.every((key) => canonicalJson(said.data[key] ?? null) === canonicalJson(now[key] ?? null))
  );
}
const ABOUT_START = ["command", "environment", "network", "access"];

export type Stages = {
  /** Says how far it is; waits while paused, throws when cancelled. */
  readonly stage: (progress: number, message: string) => Promise<void>;
  readonly work: (kind: WorkKind, params: Json) => Promise<Json>;
  /** The same, whether cancelled or not. */
  readonly undo: (kind: WorkKind, params: Json) => Promise<void>;
  /** Resolves once it survives a crash; undefined forgets it. */
  readonly keep: (prepared: Prepared | undefined) => Promise<void>;
};

export type Outcome = {
  readonly result: Json;
  readonly message: string;
  /** A person has been asked. */
  readonly awaits?: true;
};

export type Requester = {
  readonly requestId: string;
  readonly owner: string;
  readonly prepared?: Prepared | undefined;
};
