import { ApprovalRule, MAX_APPROVAL_RULES, suggest } from "@ergon/core/schema";
import type { MCPServersFile } from "@ergon/core/hub";
import { z } from "zod";
import { checked, type Note } from "./checked.ts";
import { isKnownField, POLICY_FIELDS, type PolicyField, unknownField } from "./unknown-fields.ts";

/*
 * What `mcp-servers.json` says beside its servers.
 *
 * 1  Each rule and each setting is judged alone.
 * 2  One that cannot be read counts as what allows least of all that it may have meant; so does one under a misspelt name.
 * 3  A file that was found, not named, can ask for more care and never for less.
 */

type Policy = Omit<MCPServersFile, "servers">;

const ASK_ALWAYS: ApprovalRule = { decision: "ask" };

/** What counts where nobody knows what the file says. */
export const LEAST_ALLOWING = {
  subAgentEnabled: false,
  autoDiscoveryEnabled: false,
  toolApprovalRequired: true,
  approvalRules: [ASK_ALWAYS],
} satisfies Policy;

export function readPolicy(
  written: Readonly<Record<string, unknown>>,
  { isFound, note }: { readonly isFound: boolean; readonly note: Note },
): Policy {
  const misspelt = misspeltIn(written, note);
  const flag = (name: Exclude<PolicyField, "approvalRules">): Policy => {
    if (misspelt.has(name)) return { [name]: LEAST_ALLOWING[name] };
    if (written[name] === undefined) return {};
    return { [name]: checked(z.boolean(), written[name], [name], note) ?? LEAST_ALLOWING[name] };
  };
  const rules = [
    ...(written["approvalRules"] === undefined ? [] : readRules(written["approvalRules"], note)),
    ...(misspelt.get("approvalRules") ?? []).flatMap(strictestOf),
  ];
  const policy: Policy = {
    ...flag("subAgentEnabled"),
    ...flag("autoDiscoveryEnabled"),
    ...flag("toolApprovalRequired"),
    ...(written["approvalRules"] === undefined && !misspelt.has("approvalRules") ? {} : { approvalRules: rules }),
  };
  return isFound ? careful(policy, note) : policy;
}

/** Notes every field that is not known, and gives what stands under those that most likely mean a setting. */
function misspeltIn(
  written: Readonly<Record<string, unknown>>,
  note: Note,
): ReadonlyMap<PolicyField, readonly unknown[]> {
  const misspelt = new Map<PolicyField, readonly unknown[]>();
  for (const [name, value] of Object.entries(written)) {
    if (isKnownField("file", name)) continue;
    note([name], unknownField("file", name));
    const meant = suggest(name, POLICY_FIELDS) as PolicyField | undefined;
    if (meant !== undefined) misspelt.set(meant, [...(misspelt.get(meant) ?? []), value]);
  }
  return misspelt;
}

/** Rules that may have been meant: what they deny stays denied, and everything else is asked about. */
function strictestOf(rules: unknown): ApprovalRule[] {
  const read = Array.isArray(rules) ? rules.slice(0, MAX_APPROVAL_RULES).map(strictest) : [];
  return [...read.filter(({ decision }) => decision === "deny"), ASK_ALWAYS];
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
