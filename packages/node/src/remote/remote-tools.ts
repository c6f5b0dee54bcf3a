import { Json, type JsonObject, ToolSummary } from "@ergon/core";
import { z } from "zod";
import { callRemote, readJson, type RemoteTarget } from "./remote-call.ts";

const Listed = z.object({ items: z.array(ToolSummary) });
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

/** The tools that the process that owns the data folder knows. */
export async function listRemoteTools(target: RemoteTarget, owner: string): Promise<readonly ToolSummary[]> {
  return Listed.parse(await readJson(await callRemote(target, { owner, path: "/tools" }))).items;
}
