import { BlobRef } from "@ergon/core";
import { z } from "zod";

/** A picture that a report can show. */
export const Picture = z.object({ title: z.string(), caption: z.string(), svg: BlobRef });
export type Picture = z.infer<typeof Picture>;
