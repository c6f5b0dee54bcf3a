import type { Approval } from "@ergon/core";
import { ApprovalDecision, MAX_FEEDBACK_CHARS } from "@ergon/core/schema";
import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import pc from "picocolors";
import { describeApproval } from "../../cli/output/approval-report.ts";

/** What is longer is not asked in a client: nobody says yes to what they could not see. */
export const MAX_FORM_CHARS = 8_000;

export type ApprovalForm = {
  readonly message: string;
  readonly schema: ElicitRequestFormParams["requestedSchema"];
};

/**
 * The question about a call, as a client shows it to its user. Undefined where it is not to be answered there: what is asked
 * about each time, and what does not fit.
 */
export function approvalForm(approval: Approval): ApprovalForm | undefined {
  if (approval.state !== "pending" || approval.alwaysAsk === true) return undefined;
  const message = `May this call be made?\n${describeApproval({ colors: pc.createColors(false) }, approval)}`;
  return message.length > MAX_FORM_CHARS ? undefined : { message, schema: SCHEMA };
}

const SCHEMA: ApprovalForm["schema"] = {
  type: "object",
  properties: {
    decision: { type: "string", title: "Decision", enum: ["approve", "deny"] },
    feedback: {
      type: "string",
      title: "Feedback",
      description: "Kept with your answer; whoever wanted the call is told.",
      maxLength: MAX_FEEDBACK_CHARS,
    },
  },
  required: ["decision"],
};

const Given = ApprovalDecision.pick({ decision: true, feedback: true });

type FormAnswer = { readonly action: "accept" | "decline" | "cancel"; readonly content?: unknown };

/** Whoever declines has refused the call; whoever closes the form has said nothing, and the question stays open. */
export function decisionIn({ action, content }: FormAnswer): ApprovalDecision | undefined {
  if (action === "decline") return { decision: "deny" };
  return action === "accept" ? Given.safeParse(content).data : undefined;
}
