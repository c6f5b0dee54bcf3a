import { ApprovalRule, MAX_APPROVAL_RULES, type MCPServersFile } from "@ergon/core";
import { z } from "zod";
import { checked, type Note } from "./checked.ts";

/*
 * What `mcp-servers.json` says beside its servers.
 *
 * 1  Each rule and each setting is judged alone.
 * 2  One that cannot be read counts as what allows least of all that it may have meant.
 * 3  A file that was found, not named, can ask for more care and never for less.
 */

type Policy = Omit<MCPServersFile, "servers">;

const ASK_ALWAYS: ApprovalRule = { decision: "ask" };

/** What counts where nobody knows what the file says. */
export const LEAST_ALLOWING: Policy = {
  subAgentEnabled: false,
  autoDiscoveryEnabled: false,
  toolApprovalRequired: true,
  approvalRules: [ASK_ALWAYS],
};

export function readPolicy(
  written: Readonly<Record<string, unknown>>,
  { isFound, note }: { readonly isFound: boolean; readonly note: Note },
): Policy {
  const flag = (name: "subAgentEnabled" | "autoDiscoveryEnabled" | "toolApprovalRequired"): Policy => {
    if (written[name] === undefined) return {};
    return { [name]: checked(z.boolean(), written[name], [name], note) ?? LEAST_ALLOWING[name] };
  };
  const policy: Policy = {
    ...flag("subAgentEnabled"),
    ...flag("autoDiscoveryEnabled"),
    ...flag("toolApprovalRequired"),
    ...(written["approvalRules"] === undefined ? {} : { approvalRules: readRules(written["approvalRules"], note) }),
  };
  return isFound ? careful(policy, note) : policy;
}

function readRules(written: unknown, note: Note): ApprovalRule[] {
  const rules = checked(z.array(z.unknown()), written, ["approvalRules"], note);
  if (rules === undefined) return [ASK_ALWAYS];
  const read = rules
    .slice(0, MAX_APPROVAL_RULES)
    .map((rule, index) => checked(ApprovalRule, rule, ["approvalRules", index], note) ?? strictest(rule));
  if (rules.length === read.length) return read;
  note(["approvalRules", read.length], `It has more than ${String(MAX_APPROVAL_RULES)} rules.`);
  return [...read, ASK_ALWAYS];
}

/** Without the conditions that cannot be read it speaks of more calls than it was meant to, never of fewer. */
function strictest(rule: unknown): ApprovalRule {
  const { decision, ...conditions } = Legible.parse(rule);
  return { ...conditions, decision: decision === "deny" ? "deny" : "ask" };
}

const { decision, server, tool, annotation } = ApprovalRule.shape;
const Legible = z
  .object({
    decision: decision.optional().catch(undefined),
    server: server.catch(undefined),
    tool: tool.catch(undefined),
    annotation: annotation.catch(undefined),
  })
  .catch({});

function careful({ toolApprovalRequired, approvalRules, ...rest }: Policy, note: Note): Policy {
  const refuse = (path: Parameters<Note>[0], what: string) =>
    note(
      path,
      `${what} is not followed: this file was found here. Name it (--mcp-config or MCP_CONFIG_PATH) to follow it.`,
    );
  if (toolApprovalRequired === false) refuse(["toolApprovalRequired"], '"toolApprovalRequired": false');
  approvalRules?.forEach((rule, index) => {
    if (rule.decision === "allow") refuse(["approvalRules", index], "A rule that allows");
  });
  return {
    ...rest,
    ...(toolApprovalRequired === true ? { toolApprovalRequired } : {}),
    ...(approvalRules === undefined
      ? {}
      : { approvalRules: approvalRules.filter((rule) => rule.decision !== "allow") }),
  };
}
