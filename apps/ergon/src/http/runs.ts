import type { AgenticPlan } from "@ergon/core";
import { RunId } from "@ergon/core/schema";
import { z } from "zod";
import type { HttpParts } from "./server/http-parts.ts";
import { route, type Route } from "./server/route.ts";
import { ACCEPTED, accepted } from "./session-answers.ts";
import { hasOnePlan, ONE_PLAN, PlanFields } from "./sessions.ts";

const RunBody = z
  .strictObject({
    ...PlanFields,
    id: RunId.optional().describe(
      "of the run, unique among yours: sent again with the same plan and input, it gives the run that is there",
    ),
  })
  .refine(hasOnePlan, ONE_PLAN);

export function runRoutes({ engine }: Pick<HttpParts, "engine">): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/runs",
      operationId: "startRun",
      summary: "Run a plan in a session of its own",
      access: "agent",
      waits: true,
      isStart: true,
      body: RunBody,
      answers: ACCEPTED,
      handle: async ({ body }, asker) => {
        const { owner } = asker;
        const id = body.id ?? asker.start?.id;
        const core = await engine.startRun({
          owner,
          // As in execute-plan: preflight names all that is wrong with it.
          plan: body.planId ?? (body.plan as unknown as AgenticPlan),
          ...(body.input === undefined ? {} : { input: body.input }),
          ...(id === undefined ? {} : { id }),
        });
        const { sessionId, currentPlanId: planId, runId } = core;
        asker.logger.info({ sessionId, planId, runId }, "A run was asked for.");
        const answer = await accepted(engine, core, asker);
        return { ...answer, headers: { ...answer.headers, location: `/sessions/${encodeURIComponent(sessionId)}` } };
      },
    }),
  ];
}
