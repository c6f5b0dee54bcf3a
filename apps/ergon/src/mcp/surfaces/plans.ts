import type { AgenticPlan, JsonObject } from "@ergon/core";
import { RunId, usageError } from "@ergon/core/schema";
import type { Ids } from "@ergon/core/store-kit";
import type { PromptArgument, Tool } from "@modelcontextprotocol/server";
import type { PlanCatalog } from "../../services/plan-catalog.ts";
import { driveSession, reportSession } from "../drive/drive-session.ts";
import { planToolName } from "./plan-tool-name.ts";
import type { WithOwner } from "../drive/with-owner.ts";
import { SESSION_OUTPUT } from "../drive/session-answer.ts";
import { DEFAULT_WAIT_SECONDS, startPlan } from "./sessions.ts";
import type { McpCall, McpPrompt, McpSurface, McpTool } from "../host/surface.ts";

export type PlanDeps = { readonly reach: WithOwner; readonly plans: PlanCatalog; readonly ids: Ids };

/** One tool and one prompt per plan that there is now. */
export function planSurface(deps: PlanDeps): McpSurface {
  let shown: { readonly all: PlanCatalog["all"]; readonly tools: McpTool[]; readonly prompts: McpPrompt[] } | undefined;
  const current = () => {
    const { all } = deps.plans;
    if (shown?.all === all) return shown;
    const tools = all.map(({ plan }) => planTool(deps, plan));
    shown = { all, tools, prompts: all.map(({ plan }) => planPrompt(plan)) };
    return shown;
  };
  return { tools: () => current().tools, prompts: () => current().prompts };
}

function planTool({ reach, ids }: PlanDeps, plan: AgenticPlan): McpTool {
  const name = planToolName(plan.planId);
  const whole = takesObject(plan);
  return {
    definition: {
      name,
      title: plan.planId,
      description: `${plan.description === "" ? `Runs the plan ${plan.planId}.` : plan.description} Runs durably: it goes on when this call ends, and get_session finds it again.`,
      inputSchema: (whole ? plan.parameters : wrapped(plan)) as Tool["inputSchema"],
      outputSchema: SESSION_OUTPUT,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    },
    call: (args, call) =>
      driveSession(reach, call, {
        tool: name,
        args,
        waitMs: DEFAULT_WAIT_SECONDS * 1_000,
        begin: (waiting) => {
          const input = whole ? args : (args["input"] ?? null);
          return startPlan({ reach, ids }, call.owner, { plan, input, id: runIdOf(call) }, waiting);
        },
        report: reportSession,
      }),
  };
}

/** Where the client names the run: all of the tool's arguments are the plan's. */
const RUN_ID = "ergon/id";

function runIdOf({ context }: McpCall): string | undefined {
  const given = context.mcpReq._meta?.[RUN_ID];
  const id = RunId.optional().safeParse(given);
  if (id.success) return id.data;
  throw usageError("input_invalid", `_meta["${RUN_ID}"] is not an id of a run: ${id.error.issues[0]?.message ?? ""}.`);
}

function planPrompt(plan: AgenticPlan): McpPrompt {
  const { planId, description } = plan;
  const properties = propertiesOf(plan);
  const name = planToolName(planId);
  return {
    definition: { name: planId, title: planId, description, arguments: argumentsOf(plan) },
    get: async (args) => {
      const given = Object.entries(args).map(([key, value]) => `- ${key}: ${value}`);
      const input =
        given.length === 0 ? "Ask me for its input where it needs any." : `Use this input:\n${given.join("\n")}`;
      const text = `Run the plan "${planId}" with the tool ${name}. ${description}\n${input}\nWhen it asks a question, put it to me and answer with resume_session. Then tell me what came of it.`;
      return { description, messages: [{ role: "user", content: { type: "text", text } }] };
    },
    complete: ({ name, value }) => ({
      values: choicesOf(properties[name]).filter((choice) => choice.startsWith(value)),
    }),
  };
}

/** A tool's arguments are an object; a plan that takes something else gets it as `input`. */
function takesObject({ parameters }: AgenticPlan): boolean {
  return typeof parameters === "object" && parameters["type"] === "object";
}

function wrapped({ parameters }: AgenticPlan): JsonObject {
  return { type: "object", properties: { input: parameters }, required: ["input"] };
}

function propertiesOf({ parameters }: AgenticPlan): JsonObject {
  const properties = typeof parameters === "object" ? parameters["properties"] : undefined;
  return typeof properties === "object" && properties !== null ? (properties as JsonObject) : {};
}

function argumentsOf(plan: AgenticPlan): PromptArgument[] {
  const { parameters } = plan;
  const required = typeof parameters === "object" ? parameters["required"] : undefined;
  return Object.entries(propertiesOf(plan)).map(([name, schema]) => {
    const description = (schema as JsonObject | null)?.["description"];
    return {
      name,
      ...(typeof description === "string" ? { description } : {}),
      required: Array.isArray(required) && required.includes(name),
    };
  });
}

function choicesOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { enum: choices, type } = schema as { readonly enum?: unknown; readonly type?: unknown };
  if (type === "boolean") return ["true", "false"];
  return Array.isArray(choices) ? choices.filter((choice) => typeof choice === "string") : [];
}
