import { gateError } from "../errors/gate.ts";
import type { Approval } from "../schema/approval.ts";
import type { ErrorRecord } from "../schema/error.ts";

type Refused = Pick<Approval, "feedback"> & { readonly approvalId: string; readonly state: string };

/** Why a call was not made that a person was asked about; what they said of it is for whoever wanted the call. */
export function refusalOf({ approvalId, state, feedback }: Refused): ErrorRecord {
  const details = { approvalId, ...(feedback === undefined ? {} : { feedback }) };
  const error =
    state === "denied"
      ? gateError("approval_denied", `A person refused this call${said(feedback)}`, { details })
      : gateError("approval_expired", "Nobody answered in time whether this call may be made.", { details });
  return error.toJSON() as ErrorRecord;
}

function said(feedback: string | undefined): string {
  return feedback === undefined || feedback.trim() === "" ? "." : `: ${feedback}`;
}
