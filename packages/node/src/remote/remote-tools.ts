import { Json, type JsonObject } from "@ergon/core";
import { z } from "zod";
import { callRemote, readJson, type RemoteTarget } from "./remote-call.ts";

const Called = z.object({ output: Json });

/** Calls a tool, as a person typed it, through the process that owns the data folder. */
export async function callRemoteTool(
  target: RemoteTarget,
  call: {
    readonly owner: string;
    readonly toolId: string;
    readonly args: JsonObject;
    readonly role?: string;
    readonly signal: AbortSignal;
  },
): Promise<Json> {
  const { owner, toolId, args, role, signal } = call;
  const path = `/tools/${encodeURIComponent(toolId)}/call`;
  const response = await callRemote(target, { owner, method: "POST", path, body: { args, role, typed: true }, signal });
  return Called.parse(await readJson(response, signal)).output;
}
