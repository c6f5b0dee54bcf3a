import { z } from "zod";
import { Json } from "./values/json.ts";

export const ErrorRecord = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  details: z.record(z.string(), Json).optional(),
});
export type ErrorRecord = z.infer<typeof ErrorRecord>;

/** RFC 9457, with the fields that every Ergon answer has. */
export const Problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  detail: z.string(),
  issues: z
    .array(
      z.object({
        path: z.string(),
        code: z.string(),
        message: z.string(),
        severity: z.enum(["error", "warning"]).optional(),
      }),
    )
    .optional(),
  retryable: z.boolean().optional(),
  details: z.record(z.string(), Json).optional(),
  requestId: z.string().optional(),
});
export type Problem = z.infer<typeof Problem>;
