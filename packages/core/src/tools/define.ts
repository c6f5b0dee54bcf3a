import type { z } from "zod";
import type { MCPActionV2 } from "./adapt/action.ts";
import type { ToolMetadata } from "./adapt/tool-metadata.ts";

/** Writes a tool (spec 1) with its args inferred from its schema. */
export function defineTool<Schema extends z.ZodType>(tool: ToolMetadata<Schema>): ToolMetadata<Schema> {
  return tool;
}

type Listed = "applicableRoles" | "capabilityTags" | "tags" | "suggestedPrerequisites" | "suggestedPostrequisites";

/** An action without what goes without saying. */
export type ActionDraft<Schema extends z.ZodObject> = Omit<MCPActionV2<Schema>, Listed | "title" | "usesAI"> &
  Partial<Pick<MCPActionV2<Schema>, Listed | "title" | "usesAI">>;

/** Writes an action (spec 2) with its args inferred from its schema; empty lists may be left out. */
export function defineAction<Schema extends z.ZodObject>(draft: ActionDraft<Schema>): MCPActionV2<Schema> {
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
