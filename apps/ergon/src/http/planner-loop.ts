import { MCPRequest, MCPResponse } from "@ergon/core";
import { gateError } from "@ergon/core/schema";
import { isRefusal } from "../services/make-loop.ts";
import type { HttpParts } from "./server/http-parts.ts";
import { route, type Route } from "./server/route.ts";

export function askRoutes({ ask }: Pick<HttpParts, "ask">): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/loop",
      operationId: "runLoop",
      summary: "One turn of the planner loop; a run that fails is an answer with success: false",
      access: "agent",
      isStart: true,
      body: MCPRequest,
      answers: { 200: { description: "The turn's answer, with its trace", schema: MCPResponse } },
      handle: async ({ body }, asker) => {
        const { owner, logger } = asker;
        if (asker.start?.wasSent === true) throw answerUnknown(body.sessionId);
        const { response, thrown } = await ask(body, { owner, signal: asker.left() });
        if (thrown !== undefined && isRefusal(thrown)) throw thrown;
        const { outcome } = response.data ?? {};
        logger.info(
          { sessionId: body.sessionId, success: response.success, outcome },
          "A turn of the loop was answered.",
        );
        return { status: 200, body: response };
      },
    }),
  ];
}

/** A turn cannot be found again by an id of its own, and a second one might do what the first has done. */
function answerUnknown(sessionId: string): Error {
  return gateError(
    "outcome_unknown",
    `This turn was begun before, and its answer was not kept. GET /sessions/${sessionId} shows what it did; for another turn use another Idempotency-Key.`,
    { details: { sessionId } },
  );
}
