import { storeError } from "../../errors/store.ts";
import type { SessionRef } from "../../ports/engine.ts";
import type { StateStore } from "../../ports/state-store.ts";
import {
  CORRECTION_PREFIX,
  type Correction,
  isCorrectionSession,
  type CorrectionStrategy,
} from "../../schema/correction.ts";
import { sha256Hex } from "../../schema/values/hash.ts";
import type { Json, JsonObject } from "../../schema/values/json.ts";
import type { AgenticPlan } from "../../schema/plan.ts";
import { jsonSchemaBody } from "../../tools/adapt/pure-tool.ts";
import type { Tool } from "../../tools/tool.ts";

const CORRECT_TOOL_ID = "ergon::correct";
const ID_DIGITS = 32;
/** A shutdown may refuse the correction; the next start tries it again. */
const APPLY_RETRY = { maxAttempts: 10, backoffMs: 200 };

/** The session that corrects this failure: a failed visit has one, whoever asks and however often. */
export function correctionIdFor(sessionId: string, position: string): string {
  return CORRECTION_PREFIX + sha256Hex(`${sessionId} ${position}`).slice(0, ID_DIGITS);
}

/** A correction as a plan: its one call applies what the corrected session keeps under this session's id. */
export function correctionPlan(strategy: CorrectionStrategy): AgenticPlan {
  return {
    planId: `correction.${strategy}`,
    description: "Corrects a failed step of another session.",
    parameters: PARAMETERS,
    startStepId: "apply",
    steps: [
      {
        id: "apply",
        type: "tool_call",
        toolId: CORRECT_TOOL_ID,
        arguments: { sessionId: { jsonPath: "$.promptInput.sessionId" } },
        retry: APPLY_RETRY,
        saveAs: "outcome",
        nextStepId: "done",
      },
      { id: "done", type: "final_response", message: { jsonPath: "$.context.outcome" } },
    ],
  };
}

const PARAMETERS: JsonObject = {
  type: "object",
  properties: { sessionId: { type: "string" } },
  required: ["sessionId"],
  additionalProperties: false,
};

/**
 * The tool of correction plans. A session can apply with it only the correction that bears its own id, so that calling it
 * from any other plan changes nothing.
 */
export function correctTool(
  store: Pick<StateStore, "readSession">,
  apply: (session: SessionRef, correctionId: string) => Promise<Correction>,
): Tool {
  return {
    id: CORRECT_TOOL_ID,
    title: "Apply a correction",
    description: "Applies the correction that this session is for.",
    origin: "builtin",
    effects: "idempotent",
    energyUnits: 0,
    parameters: PARAMETERS,
    applicableRoles: [],
    tags: [],
    suggestedPrerequisites: [],
    suggestedPostrequisites: [],
    requiredContext: [],
    usesAI: false,
    body: jsonSchemaBody(
      { parameters: PARAMETERS, outputSchema: undefined, rules: { unsupportedPatterns: "refuse" }, schemas: undefined },
      async ({ args, infrastructure }): Promise<Json> => {
        const sessionId = String(args["sessionId"]);
        const correctionId = infrastructure.sessionId ?? "";
        const [corrected, own] = await Promise.all([store.readSession(sessionId), store.readSession(correctionId)]);
        if (corrected === undefined || corrected.owner !== own?.owner || !isCorrectionSession(correctionId))
          throw storeError("session_not_found", `This session corrects no session "${sessionId}".`);
        const { state, strategy, path, summary } = await apply({ owner: own.owner, sessionId }, correctionId);
        return { sessionId, path, strategy, summary, state };
      },
    ),
  };
}
