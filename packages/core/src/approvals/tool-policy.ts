import { isoTime, type Clock } from "../ports/clock.ts";
import type { ApprovalRule, ToolGrant } from "../schema/approval.ts";
import type { PolicyAnswer, ToolPolicy } from "../tools/gate/policy.ts";
import type { Tool } from "../tools/tool.ts";
import { judge, type ServerTrust } from "./approval-policy.ts";
import { factsOf, type ToolFacts } from "./tool-facts.ts";
import type { ToolGrants } from "./tool-grants.ts";

/** What the configuration says of approvals, as it is at each call. */
export type ApprovalSettings = {
  /** Undefined for a server that the configuration does not have (any more): then it says nothing in its favour. */
  readonly server: (serverId: string) => ServerTrust | undefined;
  readonly rules: () => readonly ApprovalRule[];
  readonly approvalRequired: () => boolean;
};

export type ToolPolicyDeps = {
  readonly grants: Pick<ToolGrants, "read" | "put">;
  readonly settings: ApprovalSettings;
  readonly clock: Clock;
};

/** The gate's policy: which calls a person is asked about, by configuration and by what people allowed before. */
export function createToolPolicy({ grants, settings, clock }: ToolPolicyDeps): ToolPolicy {
  return ({ tool }) => {
    // Ergon's own: the supervisor's, the summary. What those set going is asked about where it is called.
    if (tool.origin === "builtin") return ALLOW;
    const rules = settings.rules();
    // Most calls are of tools that nobody is ever asked about.
    const mayAsk = tool.hub !== undefined || tool.destructiveHint === true || tool.alwaysAsk === true;
    if (!mayAsk && rules.length === 0) return ALLOW;
    const grant = grants.read(tool.id);
    return grant instanceof Promise ? grant.then((found) => answer(tool, found)) : answer(tool, grant);
  };

  function answer(tool: Tool, grant: ToolGrant | undefined): PolicyAnswer | Promise<PolicyAnswer> {
    const facts = factsOf(tool);
    const judgement = judge({
      tool: facts,
      rules: settings.rules(),
      approvalRequired: settings.approvalRequired(),
      ...(grant === undefined ? {} : { grant }),
      ...serverOf(facts, settings),
    });
    const { fingerprint } = facts;
    if (tool.alwaysAsk === true && judgement.kind === "allow")
      return { kind: "needs_approval", reason: `"${tool.id}" is asked about each time.`, changes: [], fingerprint };
    switch (judgement.kind) {
      case "allow":
        return judgement.pin ? pin(tool, facts) : ALLOW;
      case "needs_approval":
        return { ...judgement, fingerprint };
      case "deny":
        return judgement;
    }
  }

  /** What the configuration allows is allowed as it was at its first call: once it changes, a person is asked. */
  async function pin(tool: Tool, facts: ToolFacts): Promise<PolicyAnswer> {
    const grant = grantOf(tool.id, facts, { at: isoTime(clock), by: "the configuration" });
    await grants.put({ ...grant, pinned: true });
    return ALLOW;
  }
}

export function grantOf(
  toolId: string,
  { fingerprint, identity, serverId }: ToolFacts,
  { at, by }: { readonly at: string; readonly by: string },
): ToolGrant {
  const server = serverId === undefined ? {} : { serverId };
  return { toolId, ...server, fingerprint, identity, grantedAt: at, grantedBy: by };
}

const ALLOW: PolicyAnswer = { kind: "allow" };

function serverOf({ serverId }: ToolFacts, settings: ApprovalSettings): { readonly server?: ServerTrust } {
  if (serverId === undefined) return {};
  return { server: settings.server(serverId) ?? { id: serverId } };
}
