/*
 * Which calls of servers' tools a person is asked about. Pure: what people decided before is handed in.
 *
 * A1  A rule that denies wins over everything.
 * A2  What was allowed for good was allowed for the tool as it was then: once its fingerprint differs, a person is asked
 *     again and sees what changed, whatever any rule allows.
 * A3  What no rule speaks of is asked about, unless approvals were turned off: a server's tool, save one that a trusted
 *     server calls read-only, and a tool of our own that says that it may destroy something.
 */
import type { ApprovalRule, ToolChange, ToolGrant, ToolIdentity } from "../schema/approval.ts";
import type { MCPServerConfig } from "../schema/hub.ts";
import { changesBetween } from "./fingerprint.ts";
import { matchesGlob } from "./glob.ts";
import type { ToolFacts } from "./tool-facts.ts";

export type Asked = {
  readonly tool: ToolFacts;
  /** Absent for tools of our own. */
  readonly server?: ServerTrust;
  readonly rules: readonly ApprovalRule[];
  readonly approvalRequired: boolean;
  readonly grant?: ToolGrant;
};

/** What its configuration says of asking about a server's tools. */
export type ServerTrust = Pick<MCPServerConfig, "id" | "autoApprove" | "trusted">;

export type Judgement =
  | {
      readonly kind: "allow";
      /** The first time that this was allowed: it is allowed as it is now. */ readonly pin: boolean;
    }
  | { readonly kind: "needs_approval"; readonly reason: string; readonly changes: readonly ToolChange[] }
  | { readonly kind: "deny"; readonly reason: string };

export function judge({ tool, server, rules, approvalRequired, grant }: Asked): Judgement {
  const speaking = rules.filter((rule) => speaksOf(rule, tool));
  if (speaking.some(({ decision }) => decision === "deny")) {
    return { kind: "deny", reason: `a rule of the configuration forbids it` };
  }
  const { name, annotations } = tool.identity;
  if (grant !== undefined && grant.fingerprint !== tool.fingerprint) {
    const changes = changesBetween(grant.identity, tool.identity);
    const fields = changes.map(({ field }) => field).join(", ");
    return { kind: "needs_approval", reason: `"${name}" is not what was approved: ${fields} changed.`, changes };
  }
  if (speaking.some(({ decision }) => decision === "ask")) return ask(`A rule of the configuration asks about it.`);
  if (allowsForGood({ tool, rules, ...(server === undefined ? {} : { server }) }))
    return { kind: "allow", pin: grant === undefined };
  if (grant !== undefined && grant.pinned !== true) return { kind: "allow", pin: false };
  if (!approvalRequired) return { kind: "allow", pin: false };
  if (server === undefined) {
    if (annotations?.["destructiveHint"] !== true) return { kind: "allow", pin: false };
    return ask(`"${name}" says that it may destroy something.`);
  }
  if (server.trusted === true && annotations?.["readOnlyHint"] === true) return { kind: "allow", pin: false };
  return ask(`"${name}" is a tool of the MCP server "${server.id}", and nobody has allowed it for good.`);
}

/** All that rules look at. */
type NamedTool = Pick<ToolFacts, "serverId"> & { readonly identity: Pick<ToolIdentity, "name" | "annotations"> };

/** Whether the configuration, as it is, allows this tool without asking. */
export function allowsForGood({
  tool,
  server,
  rules,
}: Pick<Asked, "server" | "rules"> & { readonly tool: NamedTool }): boolean {
  if (isAutoApproved(server?.autoApprove, tool.identity.name)) return true;
  return rules.some((rule) => rule.decision === "allow" && speaksOf(rule, tool));
}

function isAutoApproved(autoApprove: ServerTrust["autoApprove"], name: string): boolean {
  if (typeof autoApprove === "boolean" || autoApprove === undefined) return autoApprove === true;
  return autoApprove.some((glob) => matchesGlob(glob, name));
}

function ask(reason: string): Judgement {
  return { kind: "needs_approval", reason, changes: [] };
}

function speaksOf({ server, tool, annotation }: ApprovalRule, { serverId, identity }: NamedTool): boolean {
  const { name, annotations } = identity;
  if (server !== undefined && (serverId === undefined || !matchesGlob(server, serverId))) return false;
  if (tool !== undefined && !matchesGlob(tool, name)) return false;
  // What a server leaves out counts as the worse of both, as the protocol has it.
  const isUnlessDenied = annotation === "destructive" || annotation === "openWorld";
  if (annotation === undefined) return true;
  const hint = annotations?.[`${annotation}Hint`];
  if (isUnlessDenied) return hint !== false && annotations?.["readOnlyHint"] !== true;
  return hint === true;
}
