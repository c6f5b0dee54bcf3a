import { GATE_ERROR_CODES } from "@ergon/core/schema";
import { expect, it } from "vitest";
import { exitCodeOf } from "./exit-codes.ts";

it("tells what was typed wrongly from what went wrong", () => {
  const codes = Object.fromEntries(GATE_ERROR_CODES.map((code) => [code, exitCodeOf(code)]));
  expect(codes).toEqual({
    tool_not_found: 2,
    args_invalid: 2,
    output_invalid: 1,
    tool_failed: 1,
    tool_timeout: 1,
    role_denied: 1,
    context_missing: 1,
    energy_exhausted: 1,
    input_required: 1,
    tool_changed: 1,
    approval_denied: 1,
    approval_expired: 1,
    outcome_unknown: 4,
    cancelled: 130,
  });
});

const typedWrongly = ["usage", "input_invalid", "setting_invalid", "not_available", "resume_input_invalid"];
const notThere = ["plan_not_found", "plan_invalid", "plan_input_invalid", "session_not_found", "blob_not_found"];
it.each([...typedWrongly, ...notThere, "wait_ambiguous"])("%s is usage", (code) => {
  expect(exitCodeOf(code)).toBe(2);
});

it.each([
  "internal",
  "folder_owned",
  "wait_not_open",
  "session_busy",
  "session_ended",
  "owner_gone",
  "constructor",
  "__proto__",
])("%s is a failure", (code) => {
  expect(exitCodeOf(code)).toBe(1);
});
