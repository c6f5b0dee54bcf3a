import { z } from "zod";
import { Json } from "./json.ts";

/** Spec 4's sandbox call, with a closed set of outcomes. */
export const SandboxRequest = z.object({
  language: z.enum(["python", "javascript"]),
  code: z.string(),
  inputs: Json.optional(),
  timeoutMs: z.int().positive().optional(),
  memoryMb: z.int().positive().optional(),
  profile: z.enum(["default", "hardened", "data"]).optional(),
});
export type SandboxRequest = z.infer<typeof SandboxRequest>;

export const SandboxResult = z.object({
  status: z.enum(["success", "error", "timeout", "killed"]),
  stdout: z.string(),
  stderr: z.string(),
  returnValue: Json.optional(),
  durationMs: z.number(),
  truncated: z.boolean(),
});
export type SandboxResult = z.infer<typeof SandboxResult>;
