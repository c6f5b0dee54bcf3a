import { z } from "zod";
import { JsonSchema } from "./values/json.ts";

/** What a call may do to the world; decides what recovery may repeat. */
export const Effects = z.enum(["pure", "read", "idempotent", "once"]);
export type Effects = z.infer<typeof Effects>;

export const MAX_TOOL_ID_LENGTH = 200;

/** `domain::name` for packs, `{server}_{tool}` for the hub, a bare name for actions. */
export const ToolId = z
  .string()
  .min(1)
  .max(MAX_TOOL_ID_LENGTH)
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9_.-]|::)*$/,
    "letters, digits, '_', '-', '.' and '::' only, starting with a letter or digit",
  );
export type ToolId = z.infer<typeof ToolId>;

/** Spec 4's tool definition, with what Ergon adds. */
export const ToolDefinition = z.object({
  id: ToolId,
  title: z.string().max(200).optional(),
  description: z.string().min(1).max(10_000),
  parameters: JsonSchema,
  outputSchema: JsonSchema.optional(),
  effects: Effects.optional(),
  destructiveHint: z.boolean().optional().describe("a call may destroy something: a person is asked first"),
  alwaysAsk: z.boolean().optional().describe("a person is asked each time; it cannot be allowed for good"),
  timeoutMs: z.int().positive().max(86_400_000).optional(),
  energyUnits: z.number().nonnegative().max(150).optional(),
  tags: z.array(z.string().max(100)).max(100).optional(),
});
export type ToolDefinition = z.infer<typeof ToolDefinition>;

/** What every door shows of a registered tool. */
export const ToolSummary = z.object({
  id: ToolId,
  title: z.string(),
  description: z.string(),
  effects: Effects,
  destructiveHint: z.boolean().exactOptional(),
  origin: z.enum(["builtin", "tool", "action", "registered", "hub"]),
  parameters: JsonSchema,
  outputSchema: JsonSchema.optional(),
  applicableRoles: z.array(z.string()),
  tags: z.array(z.string()),
  suggestedPrerequisites: z.array(z.string()),
  suggestedPostrequisites: z.array(z.string()),
  requiredContext: z.array(z.string()),
  estimatedEnergyUnits: z.number(),
});
export type ToolSummary = z.infer<typeof ToolSummary>;

/** What a tool reports of its call while it runs. */
export type ProgressUpdate = { readonly fraction?: number; readonly message?: string };
