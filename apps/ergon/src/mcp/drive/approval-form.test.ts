import type { Approval } from "@ergon/core";
import { describe, expect, it } from "vitest";
import { approvalForm, decisionIn, MAX_FORM_CHARS } from "./approval-form.ts";

const asked: Approval = {
  id: "apr_1",
  owner: "me",
  tool: "notes_write",
  server: "notes",
  parameters: { text: "" },
  argsHash: "h",
  fingerprint: null,
  estimatedEnergyCost: 1,
  reason: "why",
  state: "pending",
  requestedAt: "t",
  expiresAt: "t",
};
const withText = (chars: number): Approval => ({ ...asked, parameters: { text: "x".repeat(chars) } });

describe("a question about a call, as a form", () => {
  it("says what would be called, and is asked only while it can be shown whole", () => {
    const around = approvalForm(asked)?.message.length ?? 0;
    expect(approvalForm(withText(MAX_FORM_CHARS - around))?.message).toHaveLength(MAX_FORM_CHARS);
    expect(approvalForm(withText(MAX_FORM_CHARS - around + 1))).toBeUndefined();
  });

  it.each([
    { ...asked, alwaysAsk: true as const },
    { ...asked, state: "approved" as const },
  ])("is not asked where it is not to be answered there", (approval) => {
    expect(approvalForm(approval)).toBeUndefined();
  });

  it.each([
    [{ action: "accept", content: { decision: "approve" } }, { decision: "approve" }],
    [
      { action: "accept", content: { decision: "deny", feedback: "no" } },
      { decision: "deny", feedback: "no" },
    ],
    [{ action: "decline" }, { decision: "deny" }],
    [{ action: "cancel" }, undefined],
    [{ action: "accept" }, undefined],
    [{ action: "accept", content: { decision: "yes" } }, undefined],
    [{ action: "accept", content: { decision: "approve", remember: "server" } }, undefined],
  ] as const)("answered with %j means %j", (answer, decision) => {
    expect(decisionIn(answer)).toEqual(decision);
  });
});
