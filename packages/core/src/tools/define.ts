import type { z } from "zod";
import type { ActionRequest, MCPActionV2 } from "./adapt/action.ts";
import type { ToolMetadata } from "./adapt/tool-metadata.ts";
import { refuseBothForms, type TypedTool } from "./adapt/typed-tool.ts";

/**
 * Writes a tool with its args inferred from its schema: `{ input, output?, run(args, ctx) }`, or spec 1's
 * `{ argsSchema, run({ args, context }, ctx) }`. Throws `tool_invalid` for both at once.
 */
export function defineTool<Schema extends z.ZodType>(
  tool: ToolMetadata<Schema> & { readonly input?: never; readonly output?: never },
): ToolMetadata<Schema>;
export function defineTool<const Name extends string, Input extends z.ZodType, Output extends z.ZodType = z.ZodType>(
  tool: TypedTool<Name, Input, Output>,
): TypedTool<Name, Input, Output>;
export function defineTool(tool: object): object {
  refuseBothForms(tool);
  return tool;
}

type Listed = "applicableRoles" | "capabilityTags" | "tags" | "suggestedPrerequisites" | "suggestedPostrequisites";

/** An action without what goes without saying. */
export type ActionDraft<Schema extends z.ZodObject, Supabase = unknown> = Omit<
  MCPActionV2<Schema>,
  Listed | "title" | "usesAI" | "actionFn"
> &
  Partial<Pick<MCPActionV2<Schema>, Listed | "title" | "usesAI">> & {
    actionFn(
      request: ActionRequest<z.output<Schema>, Supabase>,
      run: Parameters<MCPActionV2["actionFn"]>[1],
    ): ReturnType<MCPActionV2["actionFn"]>;
  };

type DefineAction<Supabase> = <Schema extends z.ZodObject>(draft: ActionDraft<Schema, Supabase>) => MCPActionV2<Schema>;

/**
 * Writes an action (spec 2) with its args inferred from its schema; empty lists may be left out. The type of `supabase` is
 * named in a call of its own, `defineAction<SupabaseClient>()({ … })`, so that the args are still inferred.
 */
export function defineAction<Schema extends z.ZodObject>(draft: ActionDraft<Schema>): MCPActionV2<Schema>;
export function defineAction<Supabase>(): DefineAction<Supabase>;
export function defineAction(draft?: ActionDraft<z.ZodObject>): MCPActionV2 | DefineAction<unknown> {
  if (draft === undefined) return ((later: ActionDraft<z.ZodObject>) => withDefaults(later)) as DefineAction<unknown>;
  return withDefaults(draft);
}

function withDefaults(draft: ActionDraft<z.ZodObject>): MCPActionV2 {
  return {
    title: draft.id,
    applicableRoles: [],
    capabilityTags: [],
    tags: [],
    suggestedPrerequisites: [],
    suggestedPostrequisites: [],
    usesAI: false,
    ...draft,
  };
}
