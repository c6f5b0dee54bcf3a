import {
  createSystemClock,
  type LoopRequest,
  MCPRequest,
  McpLoopRunner,
  silentLogger,
  ToolRegistry,
} from "@ergon/core";
import { createToolGate } from "@ergon/core/engine";
import { createSupabaseActionLog, createSupabaseMemory, createToolEntities } from "@ergon/core/planner";
import { getCapabilityGaps } from "../../../capabilities/tools/talent/getCapabilityGaps/action.ts";
import { getDevelopmentPlan } from "../../../capabilities/tools/talent/getDevelopmentPlan/action.ts";
import { getMatchingRolesForPerson } from "../../../capabilities/tools/talent/getMatchingRolesForPerson/action.ts";
import { getSemanticSkillRecommendations } from "../../../capabilities/tools/talent/getSemanticSkillRecommendations/action.ts";
import { getSuggestedCareerPaths } from "../../../capabilities/tools/talent/getSuggestedCareerPaths/action.ts";
import { getTalentNames } from "../../../capabilities/tools/talent/getTalentNames/action.ts";
import { chosenEmbedder } from "../../../packages/node/src/models/chosen-embedder.ts";
import { chosenModel } from "../../../packages/node/src/models/chosen-model.ts";
import { createCallerClient } from "./caller-client.ts";
import type { Ask, HandlerDeps } from "./handler.ts";
import type { Settings } from "./settings.ts";

/** Lets signed-in people in, each to a loop whose database is the project's as they may see it. */
export function createAdmission(settings: Omit<Settings, "allowedOrigins">): HandlerDeps["admit"] {
  const { project } = settings;
  const clock = createSystemClock();
  const model = chosenModel(settings.model, clock);
  const embedder =
    settings.embedder === undefined
      ? undefined
      : chosenEmbedder(settings.embedder.id, settings.embedder.settings, clock);
  const registry = new ToolRegistry();
  registry.register(getCapabilityGaps);
  registry.register(getDevelopmentPlan);
  registry.register(getMatchingRolesForPerson);
  registry.register(getSemanticSkillRecommendations);
  registry.register(getSuggestedCareerPaths);
  registry.register(getTalentNames);
  const gate = createToolGate({ registry, clock, logger: silentLogger });

  return async (token) => {
    const client = createCallerClient(project, token);
    const { data } = await client.auth.getUser(token);
    if (data.user === null) return undefined;
    const owner = data.user.id;
    const infrastructure = { supabase: client };
    const runner = new McpLoopRunner({
      registry,
      memory: createSupabaseMemory(client),
      entities: createToolEntities({ registry, gate, clock, owner, infrastructure }),
      infrastructure,
      clock,
      ...(model === undefined ? {} : { model }),
      ...(embedder === undefined ? {} : { embedder }),
    });
    const log = createSupabaseActionLog(client);
    const ask: Ask = async (given, signal) => {
      const request = MCPRequest.safeParse(given).data;
      // What cannot be read the runner refuses, with everything that is wrong with it.
      if (request === undefined) return runner.attempt(given as LoopRequest, { owner, signal });
      const { sessionId, context } = request;
      const downstreamData = await log.recall(sessionId).catch(noted("What earlier actions left was not found"));
      const attempt = await runner.attempt(
        { ...request, context: { ...(downstreamData && { downstreamData }), ...context } },
        { owner, signal },
      );
      const results = attempt.response.data?.intermediateResults ?? [];
      await log.record(sessionId, results).catch(noted("The actions were not recorded"));
      return attempt;
    };
    return ask;
  };
}

/** The record is best-effort, as the memory is: a turn does not fail for it. */
function noted(what: string): (thrown: unknown) => undefined {
  return (thrown) => {
    console.warn(`${what}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    return undefined;
  };
}
