import { MAX_APPROVAL_RULES } from "@ergon/core/schema";
import { describe, expect, it } from "vitest";
import { readServers } from "./read-servers.ts";

const DENY = { decision: "deny", tool: "greet" };
const SERVERS = [{ id: "a", command: "a" }];
const read = (policy: object, isFound = false) =>
  readServers(JSON.stringify({ servers: SERVERS, ...policy }), { isFound });

describe("what a configuration says of approvals", () => {
  it.each<[string, object, object]>([
    ["an unknown decision", { decision: "aks", tool: "x" }, { decision: "ask", tool: "x" }],
    ["no decision", { tool: "x" }, { decision: "ask", tool: "x" }],
    ["an unknown condition", { decision: "allow", tol: "x" }, { decision: "ask" }],
    ["a denial with a wrong condition", { ...DENY, annotation: "destructve" }, DENY],
    ["no rule at all", ["deny"], { decision: "ask" }],
  ])("is judged rule by rule: %s counts as what allows least", (_, written, counts) => {
    const { servers, settings, problems } = read({ approvalRules: [DENY, written] });
    expect(settings.approvalRules).toEqual([DENY, counts]);
    expect(servers).toHaveLength(1);
    expect(problems.map(({ path }) => path)).toEqual([expect.stringMatching(/^\/approvalRules\/1/)]);
  });

  it("asks about everything where the rules are no list", () => {
    expect(read({ approvalRules: DENY }).settings.approvalRules).toEqual([{ decision: "ask" }]);
  });

  it.each([0, 1])("asks about everything past the limit of rules: %i more", (more) => {
    const approvalRules = Array.from({ length: MAX_APPROVAL_RULES + more }, () => DENY);
    const { settings, problems } = read({ approvalRules });
    expect(settings.approvalRules).toHaveLength(MAX_APPROVAL_RULES + more);
    expect(settings.approvalRules?.at(-1)).toEqual(more === 0 ? DENY : { decision: "ask" });
    expect(problems).toHaveLength(more);
  });

  it("takes a setting that cannot be read for the one that allows least", () => {
    const { servers, settings, problems } = read({ toolApprovalRequired: "false", subAgentEnabled: 1 });
    expect(settings).toEqual({ toolApprovalRequired: true, subAgentEnabled: false });
    expect([servers.length, problems.length]).toEqual([1, 2]);
  });

  it("is to ask about everything where the file cannot be read", () => {
    for (const text of ['{"servers": [', '{"servers": {}}', "[]"]) {
      expect(readServers(text)).toMatchObject({
        servers: [],
        isUnreadable: true,
        settings: { toolApprovalRequired: true, approvalRules: [{ decision: "ask" }] },
      });
    }
  });

  it("counts in a file that was found only where it asks for more care, and says what does not count", () => {
    const ask = { decision: "ask", tool: "y" };
    const policy = { toolApprovalRequired: false, approvalRules: [{ decision: "allow" }, DENY, ask] };
    expect(read(policy).settings).toEqual(policy);
    const { settings, problems } = read(policy, true);
    expect(settings).toEqual({ approvalRules: [DENY, ask] });
    expect(problems).toMatchObject([{ path: "/toolApprovalRequired" }, { path: "/approvalRules/0" }]);
    expect(problems[0]?.message).toContain("MCP_CONFIG_PATH");
    expect(read({ toolApprovalRequired: true }, true)).toMatchObject({
      settings: { toolApprovalRequired: true },
      problems: [],
    });
  });
});
