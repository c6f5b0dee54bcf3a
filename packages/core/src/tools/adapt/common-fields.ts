import { z } from "zod";
import { Effects, ToolDefinition } from "../../schema/tool.ts";
import type { Tool } from "../tool.ts";

const MAX_NAMES = 100;
const MAX_FRESH_MS = 7 * 86_400_000;
const names = z.array(z.string().min(1).max(200)).max(MAX_NAMES).optional();

/** What Ergon adds to every authoring form that is written in TypeScript. */
export const CommonFields = {
  title: z.string().max(200).optional(),
  description: ToolDefinition.shape.description,
  applicableRoles: names,
  tags: names,
  suggestedPrerequisites: names,
  suggestedPostrequisites: names,
  requiredContext: names,
  usesAI: z.boolean().optional(),
  effects: Effects.optional(),
  destructiveHint: ToolDefinition.shape.destructiveHint,
  timeoutMs: ToolDefinition.shape.timeoutMs,
  freshForMs: z.int().positive().max(MAX_FRESH_MS).optional(),
  energyUnits: ToolDefinition.shape.energyUnits,
};

export const Names = names;

/** A field of an authoring form that is a function; what it returns is checked when it is called. */
export const FunctionField = z.custom<(...args: never[]) => unknown>((value) => typeof value === "function", {
  error: "must be a function",
});

const Common = z.object(CommonFields);

/** The part of a tool that such a form decides by itself. */
export function commonPart(form: z.output<typeof Common>): CommonPart {
  return {
    description: form.description,
    applicableRoles: form.applicableRoles ?? [],
    tags: form.tags ?? [],
    suggestedPrerequisites: form.suggestedPrerequisites ?? [],
    suggestedPostrequisites: form.suggestedPostrequisites ?? [],
    requiredContext: form.requiredContext ?? [],
    usesAI: form.usesAI ?? false,
    // A tool of specs 1 and 2 may do anything, so nothing is repeated unless its author says that it may be.
    effects: form.effects ?? "once",
    ...(form.destructiveHint === undefined ? {} : { destructiveHint: form.destructiveHint }),
    ...(form.timeoutMs === undefined ? {} : { timeoutMs: form.timeoutMs }),
    ...(form.freshForMs === undefined ? {} : { freshForMs: form.freshForMs }),
    ...(form.energyUnits === undefined ? {} : { energyUnits: form.energyUnits }),
  };
}

type CommonPart = Pick<
  Tool,
  | "description"
  | "applicableRoles"
  | "tags"
  | "suggestedPrerequisites"
  | "suggestedPostrequisites"
  | "requiredContext"
  | "usesAI"
  | "effects"
  | "destructiveHint"
  | "timeoutMs"
  | "freshForMs"
  | "energyUnits"
>;
