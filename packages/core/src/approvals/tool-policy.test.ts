import { describe, expect, it } from "vitest";
import { createMemoryApprovalStore } from "../memory/approval-store.ts";
import { createSystemClock } from "../memory/clock.ts";
import type { ApprovalRule } from "../schema/approval.ts";
import { adaptPureTool } from "../tools/adapt/pure-tool.ts";
import type { PolicyAnswer } from "../tools/gate/policy.ts";
import type { Tool } from "../tools/tool.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { ToolIdentity } from "../schema/approval.ts";
import type { ServerTrust } from "./approval-policy.ts";
import { createToolGrants } from "./tool-grants.ts";
import { createToolPolicy } from "./tool-policy.ts";

const identity: ToolIdentity = { name: "read", description: "d", inputSchema: {}, server: { command: "x" } };

describe("the gate's policy", () => {
  it("asks nobody about tools of our own, unless they may destroy something or a rule speaks of them", async () => {
    expect(await ask(own())).toEqual({ kind: "allow" });
    expect(await ask(own({ destructiveHint: true }))).toMatchObject({ kind: "needs_approval" });
    expect(await ask(own({ destructiveHint: true }), { approvalRequired: false })).toEqual({ kind: "allow" });
    expect(await ask(own(), { rules: [{ decision: "ask", tool: "own::*" }] })).toMatchObject({
      kind: "needs_approval",
    });
    expect(await ask(own(), { rules: [{ decision: "ask", server: "*" }] })).toEqual({ kind: "allow" });
    const destructive: ApprovalRule = { decision: "deny", annotation: "destructive" };
    expect(await ask(own({ destructiveHint: true, effects: "once" }), { rules: [destructive] })).toMatchObject({
      kind: "deny",
    });
    expect(await ask(own({ effects: "once" }), { rules: [destructive] })).toEqual({ kind: "allow" });
  });

  it("asks about some tools each time, whatever was allowed; only a rule that denies wins", async () => {
    const tool = own({ alwaysAsk: true });
    const allow: ApprovalRule = { decision: "allow", tool: "*" };
    for (const settings of [{}, { approvalRequired: false }, { rules: [allow] }])
      expect(await ask(tool, settings)).toMatchObject({ kind: "needs_approval" });
    expect(await ask(tool, { rules: [allow, { decision: "deny" }] })).toMatchObject({ kind: "deny" });
  });

  it("leaves what Ergon itself is made of alone, whatever the rules say", async () => {
    const tool = { ...own({ destructiveHint: true }), id: "ergon::correct", origin: "builtin" } as const;
    for (const decision of ["ask", "deny"] as const)
      expect(await ask(tool, { rules: [{ decision }] })).toEqual({ kind: "allow" });
  });

  it("believes a trusted server which of its tools only read, and no other", async () => {
    const reads = { ...identity, annotations: { readOnlyHint: true } };
    expect(await ask(served(reads), { server: { id: "s", trusted: true } })).toEqual({ kind: "allow" });
    expect(await ask(served(reads))).toMatchObject({ kind: "needs_approval", fingerprint: fingerprintOf(reads) });
    expect(await ask(served(identity), { server: { id: "s", trusted: true } })).toMatchObject({
      kind: "needs_approval",
    });
  });

  it("says nothing in favour of a server that the configuration does not have", async () => {
    expect(await ask(served(identity), { known: false })).toMatchObject({
      kind: "needs_approval",
      reason: '"read" is a tool of the MCP server "s", and nobody has allowed it for good.',
    });
  });
});

type Said = {
  readonly rules?: readonly ApprovalRule[];
  readonly server?: ServerTrust;
  readonly known?: boolean;
  readonly approvalRequired?: boolean;
};

async function ask(tool: Tool, said: Said = {}): Promise<PolicyAnswer> {
  const { rules = [], server = { id: "s" }, known = true, approvalRequired = true } = said;
  const grants = createToolGrants();
  grants.keepIn(createMemoryApprovalStore());
  const settings = {
    server: () => (known ? server : undefined),
    rules: () => rules,
    approvalRequired: () => approvalRequired,
  };
  const policy = createToolPolicy({ grants, settings, clock: createSystemClock() });
  return await policy({ tool, args: {}, argsHash: "h", caller: { kind: "plan", owner: "ada" }, estimatedUnits: 1 });
}

function own(more: Partial<Tool> = {}): Tool {
  const definition = { id: "own::tool", description: "d", parameters: { type: "object" } };
  return { ...adaptPureTool({ definition, implementation: () => Promise.resolve(1) }), ...more };
}

function served(of: ToolIdentity): Tool {
  const hub = { serverId: "s", identity: of as never, fingerprint: fingerprintOf(of) };
  return { ...own(), id: "s_read", origin: "hub", hub };
}
