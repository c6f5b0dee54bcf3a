import { SANDBOX_LIMITS, SandboxRequest, usageError } from "@ergon/core/schema";

/** Throws `input_invalid` with everything that is wrong. */
export function checkRequest(given: SandboxRequest): SandboxRequest {
  const parsed = SandboxRequest.safeParse(given);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
    throw usageError("input_invalid", `This cannot be executed: ${issues.join("; ")}.`, { details: { issues } });
  }
  const { inputs = null } = parsed.data;
  if (JSON.stringify(inputs).length <= SANDBOX_LIMITS.inputChars) return parsed.data;
  throw usageError("input_invalid", `The inputs are larger than ${SANDBOX_LIMITS.inputChars} characters of JSON.`);
}
