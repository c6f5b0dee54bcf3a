import type { ActionResponse } from "@ergon/core";

export type TalentErrorType =
  | "person_not_found"
  | "person_ambiguous"
  | "role_not_found"
  | "role_ambiguous"
  | "nothing_to_match"
  | "database_unavailable";

/** Thrown inside an action and answered at its edge: no action of this pack throws. */
export class TalentError extends Error {
  override readonly name = "TalentError";
  readonly type: TalentErrorType;
  readonly details: Readonly<Record<string, string | readonly string[]>>;

  constructor(type: TalentErrorType, message: string, details: TalentError["details"] = {}) {
    super(message);
    this.type = type;
    this.details = details;
  }
}

/** What an action answers, whatever happens on the way. */
export async function answered(work: () => Promise<ActionResponse>): Promise<ActionResponse> {
  try {
    return await work();
  } catch (thrown) {
    const { type, message, details } =
      thrown instanceof TalentError
        ? thrown
        : new TalentError("database_unavailable", thrown instanceof Error ? thrown.message : "The database failed.");
    const error = { type, message, ...(Object.keys(details).length === 0 ? {} : { details }) };
    return { success: false, message, error };
  }
}
