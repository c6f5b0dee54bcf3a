import type { ErrorValue } from "../../errors/ergon-error.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ToolChange } from "../../schema/approval.ts";
import type { BlobRef } from "../../schema/blob.ts";
import type { EnergyRow } from "../../schema/energy.ts";
import type { NewEvent } from "../../schema/event.ts";
import type { Json, JsonObject } from "../../schema/values/json.ts";
import type { GivenAnswer } from "../../schema/question.ts";
import type { Effects, ProgressUpdate } from "../../schema/tool.ts";
import type { PendingBlob } from "./offload.ts";
import type { Infrastructure, ToolBlobs, ToolContext } from "../tool.ts";

export const CALLER_KINDS = ["plan", "loop", "conversation", "http", "mcp", "cli"] as const;

export type Caller = {
  readonly kind: (typeof CALLER_KINDS)[number];
  /** The principal: a token's name, or issuer and subject. */
  readonly owner: string;
  /** The audience it acts for; `general` when absent. */
  readonly role?: string;
  /** A person has said yes to this very call. */
  readonly approved?: boolean;
};

/** What is to be called. `context` is read only by tools that require some of it or take defaults from it. */
export type ToolCall = {
  readonly toolId: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly context: ToolContext;
  readonly caller: Caller;
  readonly sessionId?: string;
  /** What is left of the session's own budget, open reservations taken off; absent means no budget. */
  readonly energy?: { readonly remaining?: number };
  readonly timeoutMs?: number;
};

export type AllowedCall = {
  readonly kind: "allowed";
  readonly toolId: string;
  /** The principal whose call was checked: it is made for nobody else. */
  readonly owner: string;
  /** Defaults merged in. Calling again with these never asks `getDefaultArgs` again: it is user code. */
  readonly resolvedArgs: JsonObject;
  readonly argsHash: string;
  readonly effects: Effects;
  readonly timeoutMs?: number;
  readonly reservedUnits: number;
  /** Of an MCP server's tool as it was checked: another one is not called in its place. */
  readonly fingerprint?: string;
  /** Args too large for a journal; the caller puts the bytes and keeps the reference. */
  readonly requestBlob?: PendingBlob;
};

export type CallNeedingApproval = Omit<AllowedCall, "kind"> & {
  readonly kind: "needs_approval";
  readonly reason: string;
  /** The fingerprint that a person's yes holds for, as the policy gave it. */
  readonly boundTo?: string;
  readonly changes?: readonly ToolChange[];
};

export type DeniedCall = { readonly kind: "denied"; readonly error: ErrorValue };

export type CheckAnswer = AllowedCall | CallNeedingApproval | DeniedCall;

export type InvokeOptions = {
  readonly signal?: AbortSignal;
  readonly idempotencyKey: string;
  readonly context: ToolContext;
  readonly infrastructure?: Infrastructure;
  readonly progress?: ((update: ProgressUpdate) => void) | undefined;
  readonly logger?: Logger;
  /** Where the tool puts and finds bytes, by the caller's rights. */
  readonly blobs?: ToolBlobs;
  /** What a person has answered to questions of this call. Absent: nobody can be asked. */
  readonly answers?: readonly GivenAnswer[] | undefined;
};

/** What a call leaves for its caller's commit; the gate itself writes nothing. */
type Settled = {
  readonly energyUnits: number;
  readonly durationMs: number;
  /** Those with bytes are to be put before the commit; the tool has put the others. */
  readonly blobs: readonly (PendingBlob | { readonly ref: BlobRef; readonly bytes?: undefined })[];
  readonly rows: { readonly energy: EnergyRow; readonly events: readonly NewEvent[] };
};

export type CallOutcome =
  | (Settled & { readonly kind: "ok"; readonly output: Json })
  | (Settled & { readonly kind: "failed"; readonly error: ErrorValue });
