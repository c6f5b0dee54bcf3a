/*
 * Which calls of servers' tools a person is asked about. Pure: what people decided before is handed in.
 *
 * A1  A rule that denies wins over everything.
 * A2  What was allowed for good was allowed for the tool as it was then: once its fingerprint differs, a person is asked
 *     again and sees what changed, whatever any rule allows.
 * A3  What no rule speaks of is asked about, unless approvals were turned off.
 */
import { z } from "zod";
import type { ToolChange, ToolGrant } from "../schema/approval.ts";
import type { MCPServerConfig } from "../schema/hub.ts";
import type { HubFacts } from "../tools/tool.ts";
import { changesBetween, type ToolIdentity } from "./fingerprint.ts";
import { matchesGlob } from "./glob.ts";

/** A rule speaks of the calls that all its conditions hold for; one without conditions speaks of all. */
export const ApprovalRule = z.strictObject({
  decision: z.enum(["allow", "ask", "deny"]),
  server: z.string().min(1).optional(),
  tool: z.string().min(1).optional(),
  annotation: z.enum(["readOnly", "destructive", "idempotent", "openWorld"]).optional(),
});
export type ApprovalRule = z.infer<typeof ApprovalRule>;

export type Asked = {
  readonly hub: HubFacts;
  readonly server: Pick<MCPServerConfig, "id" | "autoApprove" | "trusted">;
  readonly rules: readonly ApprovalRule[];
  readonly approvalRequired: boolean;
  readonly grant?: ToolGrant;
};

export type Judgement =
  | {
      readonly kind: "allow";
      /** The first time that this was allowed: it is allowed as it is now. */ readonly pin: boolean;
    }
  | { readonly kind: "needs_approval"; readonly reason: string; readonly changes: readonly ToolChange[] }
  | { readonly kind: "deny"; readonly reason: string };

export function judge({ hub, server, rules, approvalRequired, grant }: Asked): Judgement {
  const speaking = rules.filter((rule) => speaksOf(rule, hub));
  if (speaking.some(({ decision }) => decision === "deny")) {
    return { kind: "deny", reason: `a rule of the configuration forbids it` };
  }
  const { name } = identityOf(hub);
  if (grant !== undefined && grant.fingerprint !== hub.fingerprint) {
    const changes = changesBetween(grant.identity as unknown as ToolIdentity, identityOf(hub));
    const fields = changes.map(({ field }) => field).join(", ");
    return { kind: "needs_approval", reason: `"${name}" is not what was approved: ${fields} changed.`, changes };
  }
  if (speaking.some(({ decision }) => decision === "ask")) return ask(`A rule of the configuration asks about it.`);
  const isListed =
    server.autoApprove === true ||
    (Array.isArray(server.autoApprove) && server.autoApprove.some((glob) => matchesGlob(glob, name)));
  const isAllowed = isListed || speaking.some(({ decision }) => decision === "allow");
  if (isAllowed || grant !== undefined) return { kind: "allow", pin: grant === undefined };
  if (!approvalRequired) return { kind: "allow", pin: false };
  return ask(`"${name}" is a tool of the MCP server "${server.id}", and nobody has allowed it for good.`);
}

function ask(reason: string): Judgement {
  return { kind: "needs_approval", reason, changes: [] };
}

function speaksOf({ server, tool, annotation }: ApprovalRule, hub: HubFacts): boolean {
  const { name, annotations } = identityOf(hub);
  if (server !== undefined && !matchesGlob(server, hub.serverId)) return false;
  if (tool !== undefined && !matchesGlob(tool, name)) return false;
  // What a server leaves out counts as the worse of both, as the protocol has it.
  const isUnlessDenied = annotation === "destructive" || annotation === "openWorld";
  if (annotation === undefined) return true;
  const hint = annotations?.[`${annotation}Hint`];
  if (isUnlessDenied) return hint !== false && annotations?.["readOnlyHint"] !== true;
  return hint === true;
}

function identityOf(hub: HubFacts): ToolIdentity {
  return hub.identity as unknown as ToolIdentity;
}
