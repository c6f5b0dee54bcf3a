import { Json, MCPServerConfig } from "@ergon/core";
import { z } from "zod";
import type { WorkKind } from "./work.ts";

/** What the sub-agent may touch besides its own folder: the configuration, and a person's attention. */
export type SubAgentDesk = {
  readonly list: () => Promise<readonly MCPServerConfig[]>;
  /** The server with its references resolved. */
  readonly resolve: (
    serverId: string,
  ) => Promise<{ readonly config: MCPServerConfig; readonly secrets: readonly string[] }>;
  /** Again for the same server, it completes what a process that died had begun. */
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

/** What a person is to be asked about. It is kept before anything of it shows, so that whoever goes on after a crash asks the same. */
export const Prepared = z.object({
  serverId: z.string(),
  about: Json,
  /** Of a server that is to be added. */
  added: z.object({ config: MCPServerConfig, probe: Json }).optional(),
});
export type Prepared = z.infer<typeof Prepared>;

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

export type Asker = { readonly requestId: string; readonly owner: string; readonly prepared?: Prepared | undefined };
