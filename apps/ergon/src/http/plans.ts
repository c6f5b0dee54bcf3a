import { AgenticPlan, Json, PlanProblem } from "@ergon/core";
import { planError, PlanId } from "@ergon/core/schema";
import { z } from "zod";
import type { PlanApi } from "./server/http-parts.ts";
import { route, type Route } from "./server/route.ts";

const PlanLine = z.object({ planId: PlanId, description: z.string(), parameters: z.unknown() });
const PlanEstimate = z.object({
  energyUnits: z.number(),
  toolCalls: z.number(),
  atLeast: z.boolean().describe("true when loops or retries may make it more"),
});
const noPlan = ({ id = "" }: Readonly<Record<string, string>>): Error =>
  planError("plan_not_found", `No plan "${id}".`, { details: { planId: id } });

export function planRoutes(plans: PlanApi): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/plans",
      operationId: "listPlans",
      summary: "The plans that can be run by their id",
      access: "agent",
      answers: { 200: { description: "All plans", schema: z.object({ items: z.array(PlanLine) }) } },
      handle: () => {
        const items = plans.list().map(({ planId, description, parameters }) => ({ planId, description, parameters }));
        return { status: 200, body: { items } };
      },
    }),
    route({
      method: "GET",
      path: "/plans/:id",
      operationId: "readPlan",
      summary: "A plan",
      access: "agent",
      params: z.object({ id: PlanId }),
      unknown: noPlan,
      answers: { 200: { description: "The plan", schema: AgenticPlan } },
      handle: ({ params }) => {
        const plan = plans.get(params.id);
        if (plan === undefined) throw noPlan(params);
        return { status: 200, body: plan };
      },
    }),
    route({
      method: "POST",
      path: "/plans/validate",
      operationId: "validatePlan",
      summary: "All that is wrong with a plan, without running it",
      access: "agent",
      body: z.strictObject({
        plan: z.unknown().describe("an AgenticPlan, right or wrong"),
        input: Json.optional().describe("checked against the plan's parameters when given"),
      }),
      answers: {
        200: {
          description: "What preflight found",
          schema: z.object({
            ok: z.boolean(),
            problems: z.array(PlanProblem),
            estimate: PlanEstimate,
          }),
        },
      },
      handle: ({ body }) => {
        const { ok, problems, estimate } = plans.validate(body.plan ?? null, body.input);
        return { status: 200, body: { ok, problems, estimate } };
      },
    }),
  ];
}
