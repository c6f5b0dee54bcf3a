import { type LoopRequest, MCPResponse } from "@ergon/core";
import { callRemote, readJson, type RemoteTarget } from "./remote-call.ts";

/** Has the process that owns the data folder take a turn of the planner loop. */
export async function askRemote(
  target: RemoteTarget,
  turn: { readonly owner: string; readonly request: LoopRequest; readonly signal: AbortSignal },
): Promise<MCPResponse> {
  const { owner, request, signal } = turn;
  const response = await callRemote(target, { owner, method: "POST", path: "/loop", body: request, signal });
  return MCPResponse.parse(await readJson(response, signal));
}
