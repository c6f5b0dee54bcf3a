// Spec 1's view of a registered tool: its Zod schema, and functions that call it through a gate.
import { z } from "zod";
import { ErgonError, type ErrorValue } from "../errors/ergon-error.ts";
import { createSystemClock } from "../memory/clock.ts";
import { createIds } from "../memory/ids.ts";
import { silentLogger } from "../memory/logger.ts";
import { createToolGate } from "./gate/gate.ts";
import type { KnownTools } from "./known-tools.ts";
import type { Infrastructure, Tool, ToolArgs, ToolContext } from "./tool.ts";
import { wholeOutput } from "./gate/whole-output.ts";

export type SpecTool<Output = unknown> = Tool & {
  readonly name: string;
  readonly argsSchema: z.ZodType;
  run(this: void, params: { readonly args: ToolArgs; readonly context: ToolContext }): Promise<Output>;
  /** Takes spec 2's `{args, context, supabase, sessionId}`, or spec 1's context and args in one object. */
  actionFn(this: void, request: Readonly<Record<string, unknown>>): Promise<Output>;
};

/** The principal of a program that has only one. */
export const DEFAULT_OWNER = "local";

export function specTool<Output>(tool: Tool, registry: KnownTools): SpecTool<Output> {
  const call = async (args: ToolArgs, context: ToolContext, infrastructure: Infrastructure = {}): Promise<Output> => {
    const clock = createSystemClock();
    const gate = createToolGate({ registry, clock, logger: silentLogger });
    const role = typeof context["mode"] === "string" ? { role: context["mode"] } : {};
    const caller = { kind: "loop", owner: DEFAULT_OWNER, ...role } as const;
    const checked = await gate.check({ toolId: tool.id, args, caller, context });
    if (checked.kind === "denied") throw thrown(checked.error);
    if (checked.kind === "needs_approval") throw new Error("The gate asks about a call that it has no policy for.");
    const idempotencyKey = createIds({ clock }).next("call");
    const outcome = await gate.invoke(checked, { idempotencyKey, context, infrastructure });
    if (outcome.kind === "failed") throw thrown(outcome.error);
    return wholeOutput(outcome) as Output;
  };
  return {
    ...tool,
    name: tool.id,
    get argsSchema() {
      return tool.argsSchema ?? zodOf(tool.parameters);
    },
    run: ({ args, context }) => call(args, context),
    actionFn: (request) => {
      const { args, context, supabase, sessionId } = request;
      const apart = isObject(args) && isObject(context);
      return call(apart ? args : argsIn(request, tool), apart ? context : request, {
        ...(supabase === undefined ? {} : { supabase }),
        ...(typeof sessionId === "string" ? { sessionId } : {}),
      });
    },
  };
}

/** Those fields that the tool takes; all of them when it does not say which. */
function argsIn(request: Readonly<Record<string, unknown>>, { parameters }: Tool): ToolArgs {
  const properties = typeof parameters === "boolean" ? undefined : parameters["properties"];
  if (!isObject(properties)) return request;
  return Object.fromEntries(Object.entries(request).filter(([name]) => Object.hasOwn(properties, name)));
}

/** What Zod cannot say of a JSON Schema the gate still checks at the call. */
function zodOf(parameters: Tool["parameters"]): z.ZodType {
  try {
    return z.fromJSONSchema(parameters);
  } catch {
    return z.looseObject({});
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function thrown({ code, message, retryable, details }: ErrorValue): ErgonError {
  return new ErgonError(code, message, { retryable, ...(details === undefined ? {} : { details }) });
}
