/** 0 ok, 1 failed, 2 usage, 3 paused (waiting for a person), 4 paused on error; by signal as shells count them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  paused: 3,
  pausedOnError: 4,
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Codes that are not listed end with "failed". What the caller typed wrongly is usage. */
const BY_ERROR_CODE = new Map<string, ExitCode>(
  Object.entries({
    usage: EXIT.usage,
    input_invalid: EXIT.usage,
    setting_invalid: EXIT.usage,
    not_available: EXIT.usage,
    pack_missing: EXIT.usage,
    tool_not_found: EXIT.usage,
    args_invalid: EXIT.usage,
    plan_not_found: EXIT.usage,
    plan_invalid: EXIT.usage,
    plan_input_invalid: EXIT.usage,
    session_not_found: EXIT.usage,
    run_conflict: EXIT.usage,
    run_expired: EXIT.usage,
    folder_absent: EXIT.usage,
    blob_not_found: EXIT.usage,
    loop_not_found: EXIT.usage,
    approval_not_found: EXIT.usage,
    grant_not_found: EXIT.usage,
    conversation_not_found: EXIT.usage,
    loop_validation: EXIT.usage,
    wait_ambiguous: EXIT.usage,
    resume_input_invalid: EXIT.usage,
    step_not_found: EXIT.usage,
    step_nested: EXIT.usage,
    outcome_unknown: EXIT.pausedOnError,
    cancelled: EXIT.interrupted,
  }),
);

export function exitCodeOf(errorCode: string): ExitCode {
  return BY_ERROR_CODE.get(errorCode) ?? EXIT.failed;
}
