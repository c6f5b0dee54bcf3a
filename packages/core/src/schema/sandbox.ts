import { z } from "zod";
import { Json } from "./values/json.ts";

/** What one execution may take; what is not asked for is the default. */
export const SANDBOX_LIMITS = {
  codeChars: 1024 * 1024,
  /** As JSON text. */
  inputChars: 16 * 1024 * 1024,
  /** Each of stdout, stderr and the return value. */
  outputBytes: 1024 * 1024,
  timeoutMs: { default: 30_000, max: 600_000 },
  /** What the code may use on top of its runtime. */
  memoryMb: { min: 64, default: 512, max: 2_048 },
} as const;

export const SandboxProfileName = z.enum(["default", "hardened", "data"]);
export type SandboxProfileName = z.infer<typeof SandboxProfileName>;

/** Spec 4's sandbox call, with a closed set of outcomes. */
export const SandboxRequest = z.object({
  language: z.enum(["python", "javascript"]),
  code: z.string().max(SANDBOX_LIMITS.codeChars),
  /** A global of the code; null when nothing was given. */
  inputs: Json.optional(),
  timeoutMs: z.int().positive().max(SANDBOX_LIMITS.timeoutMs.max).optional(),
  memoryMb: z.int().min(SANDBOX_LIMITS.memoryMb.min).max(SANDBOX_LIMITS.memoryMb.max).optional(),
  profile: SandboxProfileName.optional(),
});
export type SandboxRequest = z.infer<typeof SandboxRequest>;

export const SandboxResult = z.object({
  /** `killed`: it ended without an answer, or took more than it may. */
  status: z.enum(["success", "error", "timeout", "killed"]),
  stdout: z.string(),
  /** What the code wrote there; when it failed, then why, as its last lines. */
  stderr: z.string(),
  /** The last expression (python) or the returned value (javascript); only of a success. */
  returnValue: Json.optional(),
  durationMs: z.number(),
  /** More was written than is shown. */
  truncated: z.boolean(),
});
export type SandboxResult = z.infer<typeof SandboxResult>;

/** A way to run code, and whether it can be had here. */
export const SandboxProfile = z.object({
  name: SandboxProfileName,
  languages: z.array(SandboxRequest.shape.language),
  available: z.boolean(),
  /** What it is made of, or why it is not there and how to get it. */
  note: z.string(),
});
export type SandboxProfile = z.infer<typeof SandboxProfile>;
