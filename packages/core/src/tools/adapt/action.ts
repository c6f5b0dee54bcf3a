import { z } from "zod";
import { registryError } from "../../errors/registry.ts";
import type { ChatModel } from "../../ports/chat-model.ts";
import type { Embedder } from "../../ports/embedder.ts";
import { ActionResponse } from "../../schema/action.ts";
import { ToolId } from "../../schema/tool.ts";
import { zodIssues } from "../issues.ts";
import type { Tool, ToolArgs, ToolBody, ToolContext, ToolInvocation, ToolRun, Validated } from "../tool.ts";
import { CommonFields, FunctionField, Names, commonPart } from "./common-fields.ts";
import { infrastructureIn, infrastructureInDefaults } from "./infrastructure.ts";
import { guarded, nameOf, readForm, type Provenance } from "./read-form.ts";
import { zodArgs } from "./zod-args.ts";
import { ZodSchema } from "./zod-schema.ts";

/** Spec 2's request of an action: infrastructure, context and args, three sources that never mix. */
export type ActionRequest<Args = ToolArgs, Supabase = unknown> = {
  readonly args: Args;
  readonly context: ToolContext;
  readonly supabase: Supabase;
  readonly sessionId?: string;
  /** For actions that use AI; absent where no model is set. */
  readonly model?: ChatModel;
  readonly embedder?: Embedder;
};

/** Spec 2's action, registry entries' `requiredContext` and `requiredArgs` included. */
export type MCPActionV2<Schema extends z.ZodObject = z.ZodObject> = {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  /** Roles that may use it; empty means all. */
  readonly applicableRoles: readonly string[];
  readonly capabilityTags: readonly string[];
  /** @deprecated Accepted and without effect; `argsSchema` says what is required. */
  readonly requiredInputs?: readonly string[];
  readonly tags: readonly string[];
  readonly suggestedPrerequisites: readonly string[];
  readonly suggestedPostrequisites: readonly string[];
  readonly usesAI: boolean;
  readonly argsSchema?: Schema;
  /** Must cope with an empty context, and returns args alone: no infrastructure. */
  getDefaultArgs?(context: ToolContext): Readonly<Record<string, unknown>>;
  actionFn(request: ActionRequest<z.output<Schema>>, run: ToolRun): Promise<ActionResponse>;
  readonly requiredContext?: readonly string[];
  readonly requiredArgs?: readonly string[];
  /** Names that it was once called by; they still call it, and are shown nowhere. */
  readonly aliases?: readonly string[];
  readonly effects?: Tool["effects"];
  readonly destructiveHint?: boolean;
  readonly timeoutMs?: number;
  readonly energyUnits?: number;
  /** How long a success stands for the same call in the same session; absent means never. */
  readonly freshForMs?: number;
};

/** Turns spec 2's form into a tool; throws what registration refuses. */
export function adaptAction(action: unknown, from: Provenance = {}): Tool {
  return guarded(KIND, action, () => {
    const form = readForm(KIND, Fields, action);
    const owner = nameOf(KIND, action);
    const { parameters, check } = zodArgs(owner, form.argsSchema, form.requiredArgs);
    // Called on the author's own object, so that a method may use `this`.
    const author = action as MCPActionV2;
    if (form.getDefaultArgs !== undefined) refuseBadDefaults(owner, author);
    const body: ToolBody = {
      ...check,
      validateOutput: validateResponse,
      ...(form.getDefaultArgs === undefined ? {} : { defaultArgs: (context) => author.getDefaultArgs?.(context) }),
      run: (call, run) => author.actionFn(requestOf(call), run),
    };
    return {
      ...commonPart(form),
      ...from,
      id: form.id,
      title: form.title ?? form.id,
      tags: [...new Set([...(form.tags ?? []), ...(form.capabilityTags ?? [])])],
      origin: "action",
      ...(form.aliases === undefined ? {} : { aliases: form.aliases }),
      parameters,
      ...(form.argsSchema === undefined ? {} : { argsSchema: form.argsSchema }),
      body: () => body,
    };
  });
}

const KIND = "action";

const Fields = z.object({
  ...CommonFields,
  id: ToolId,
  capabilityTags: Names,
  requiredInputs: Names,
  requiredArgs: Names,
  argsSchema: ZodSchema.optional(),
  getDefaultArgs: FunctionField.optional(),
  actionFn: FunctionField,
  aliases: z.array(ToolId).max(10).optional(),
});

function requestOf(call: ToolInvocation): ActionRequest {
  const { args, infrastructure } = call;
  return {
    args,
    // Read only if the action asks for it.
    get context() {
      return call.context;
    },
    supabase: infrastructure.supabase,
    ...(infrastructure.sessionId === undefined ? {} : { sessionId: infrastructure.sessionId }),
    ...(infrastructure.model === undefined ? {} : { model: infrastructure.model }),
    ...(infrastructure.embedder === undefined ? {} : { embedder: infrastructure.embedder }),
  };
}

function refuseBadDefaults(owner: string, action: MCPActionV2): void {
  let defaults: unknown;
  try {
    defaults = action.getDefaultArgs?.({});
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "it threw a value that is no Error";
    const message = `${owner}: getDefaultArgs({}) threw (${reason}); it must cope with a context that lacks everything.`;
    throw registryError("tool_invalid", message, { cause });
  }
  if (typeof defaults !== "object" || defaults === null || Array.isArray(defaults) || "then" in defaults) {
    throw registryError("tool_invalid", `${owner}: getDefaultArgs({}) must return an object of args, at once.`);
  }
  const names = infrastructureIn(defaults as Readonly<Record<string, unknown>>);
  if (names.length > 0) throw infrastructureInDefaults(owner, names);
}

function validateResponse(output: unknown): Validated<unknown> {
  const parsed = ActionResponse.safeParse(output);
  if (parsed.success) return { ok: true, value: output };
  return { ok: false, issues: zodIssues(parsed.error, true, output) };
}
