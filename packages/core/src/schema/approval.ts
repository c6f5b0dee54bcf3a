import { z } from "zod";
import { Json, JsonObject } from "./json.ts";

export const ApprovalState = z.enum(["pending", "approved", "denied", "expired"]);
export type ApprovalState = z.infer<typeof ApprovalState>;

/** What differs between what was approved before and what is asked for now, hidden characters written out. */
export const ToolChange = z.object({ field: z.string(), before: z.string(), after: z.string() });
export type ToolChange = z.infer<typeof ToolChange>;

/** A question to a person: may this very call be made? */
export const Approval = z.object({
  id: z.string(),
  /** Who asked; the answer is for nobody else. */
  owner: z.string(),
  tool: z.string(),
  server: z.string().nullable(),
  /** As a person may see them: secrets hidden, long values cut. */
  parameters: Json,
  /** Of the arguments as they are. */
  argsHash: z.string(),
  fingerprint: z.string().nullable(),
  estimatedEnergyCost: z.number(),
  reason: z.string(),
  changes: z.array(ToolChange).optional(),
  state: ApprovalState,
  requestedAt: z.string(),
  expiresAt: z.string(),
  sessionId: z.string().optional(),
  /** Where the session waits for it. */
  step: z.string().optional(),
  conversationId: z.string().optional(),
  decidedAt: z.string().optional(),
  decidedBy: z.string().optional(),
  feedback: z.string().optional(),
});
export type Approval = z.infer<typeof Approval>;

/** What a person approved once and for all: this tool, as it was then. */
export const ToolGrant = z.object({
  toolId: z.string(),
  fingerprint: z.string(),
  identity: JsonObject,
  grantedAt: z.string(),
  grantedBy: z.string(),
});
export type ToolGrant = z.infer<typeof ToolGrant>;
