import { z } from "zod";
import type { KeeperLine as Line } from "./child/protocol.ts";

/** The child's side has no zod: its type is stated there, and held to here. */
export const KeeperLine = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("ready") }),
  z.object({ kind: z.literal("snapshot"), part: z.string() }),
  z.object({ kind: z.literal("memory") }),
  z.object({ kind: z.literal("done"), json: z.string() }),
  z.object({ kind: z.literal("failed"), error: z.string() }),
]) satisfies z.ZodType<Line>;
