import { z } from "zod";
import { Json, JsonObject } from "./values/json.ts";

export const ApprovalState = z.enum(["pending", "approved", "denied", "expired", "withdrawn"]);
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
  /** What the tool says of itself, hidden characters written out: a claim, and somebody else's. */
  description: z.string().optional(),
  /** As a person may see them: secrets hidden, long values cut. */
  parameters: Json,
  /** Of the arguments as they are. */
  argsHash: z.string(),
  fingerprint: z.string().nullable(),
  estimatedEnergyCost: z.number(),
  /** It is asked about each time, and only a person who comes in as one can answer: no program's client does. */
  alwaysAsk: z.literal(true).optional(),
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

/** All that a person relies on when approving a tool. What is not here may change without a new approval. */
export const ToolIdentity = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  inputSchema: Json,
  outputSchema: Json.optional(),
  annotations: JsonObject.optional(),
  server: z.object({
    command: z.string().optional(),
    args: z.array(z.string()).readonly().optional(),
    cwd: z.string().optional(),
    /** As people may see it: a value that may be a key must not be guessed from the fingerprint. */
    env: z.record(z.string(), z.string()).optional(),
    url: z.string().optional(),
    version: z.string().optional(),
  }),
});
export type ToolIdentity = z.infer<typeof ToolIdentity>;

/** As a grant keeps it: what an earlier version did not keep is missing, and counts as changed. */
export const GrantedIdentity = ToolIdentity.partial().required({ name: true });
export type GrantedIdentity = z.infer<typeof GrantedIdentity>;

/** What a person approved once and for all: this tool, as it was then. */
export const ToolGrant = z.object({
  toolId: z.string(),
  /** Absent for tools of our own. */
  serverId: z.string().optional(),
  fingerprint: z.string(),
  identity: GrantedIdentity,
  grantedAt: z.string(),
  grantedBy: z.string(),
  /** The configuration allows it, and this only says as what: without the configuration it allows nothing. */
  pinned: z.boolean().optional(),
});
export type ToolGrant = z.infer<typeof ToolGrant>;

/** How far a person's yes reaches beyond the one call: to this tool, or to all tools that its server has now. */
export const Remember = z.enum(["tool", "server"]);
export type Remember = z.infer<typeof Remember>;

/** A question as it stands after an answer. */
export const DecidedApproval = Approval.extend({
  /** What was allowed for good with it; absent where nothing was, or the tool is no longer the one that was asked about. */
  remembered: Remember.optional(),
});
export type DecidedApproval = z.infer<typeof DecidedApproval>;

export const MAX_FEEDBACK_CHARS = 2_000;

export const ApprovalDecision = z.strictObject({
  decision: z.enum(["approve", "deny"]),
  remember: Remember.optional(),
  feedback: z.string().max(MAX_FEEDBACK_CHARS).optional(),
});
export type ApprovalDecision = z.infer<typeof ApprovalDecision>;

/** A rule speaks of the calls that all its conditions hold for; one without conditions speaks of all. */
export const ApprovalRule = z.strictObject({
  decision: z.enum(["allow", "ask", "deny"]),
  server: z.string().min(1).optional(),
  tool: z.string().min(1).optional(),
  annotation: z.enum(["readOnly", "destructive", "idempotent", "openWorld"]).optional(),
});
export type ApprovalRule = z.infer<typeof ApprovalRule>;

export const MAX_APPROVAL_RULES = 1_000;
