import { LoopReply } from "@ergon/core/spec";
import { LoopState } from "@ergon/core/schema";
import { checkLoopId, type RefinementLoops } from "@ergon/core/engine";
import { z } from "zod";
import { loopPath } from "./paths.ts";
import { callRemote, readJson, type RemoteRequest, type RemoteTarget } from "./remote-call.ts";

const Listed = z.object({ items: z.array(LoopReply) });

/** Refinement loops, as whoever owns the data folder keeps them. */
export function createRemoteLoops(target: RemoteTarget): RefinementLoops {
  const ask = async (request: RemoteRequest): Promise<unknown> => readJson(await callRemote(target, request));
  return {
    initialize: async ({ owner, loop_type }) =>
      LoopReply.parse(await ask({ owner, method: "POST", path: "/loops", body: { loop_type } })),
    decide: async ({ owner, loop_id, current_score }) => {
      const path = `${loopPath(checkLoopId(loop_id))}/decide`;
      return LoopReply.parse(await ask({ owner, method: "POST", path, body: { current_score } }));
    },
    status: async ({ owner, loop_id }) =>
      LoopReply.parse(await ask({ owner, path: loopPath(checkLoopId(loop_id)), query: { view: "status" } })),
    list: async ({ owner }) => Listed.parse(await ask({ owner, path: "/loops" })).items,
    read: async ({ owner, loop_id }) => LoopState.parse(await ask({ owner, path: loopPath(checkLoopId(loop_id)) })),
  };
}
