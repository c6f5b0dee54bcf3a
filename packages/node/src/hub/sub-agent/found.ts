import { z } from "zod";

/** What trying a server came to. */
export const Probed = z.object({
  tools: z.array(z.object({ name: z.string(), description: z.string(), fingerprint: z.string() })).default([]),
  /** Why it was not started. */
  untried: z.string().optional(),
  version: z.string().optional(),
  sample: z.object({ tool: z.string(), ok: z.boolean() }).optional(),
});
export type Probed = z.infer<typeof Probed>;

/** What searching the registry came to. */
export const Found = z.object({
  servers: z.array(z.looseObject({ name: z.string(), package: z.string().optional() })),
  asOf: z.string().nullable(),
  stale: z.string().optional(),
});
