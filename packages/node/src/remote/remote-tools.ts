import { Json, type JsonObject, ToolSummary } from "@ergon/core";
import { z } from "zod";
import { callRemote, readJson, type RemoteTarget } from "./remote-call.ts";

const Listed = z.object({ items: z.array(ToolSummary) });
const Called = z.object({ output: Json });

type TypedCall = {
  readonly owner: string;
  readonly toolId: string;
  readonly args: JsonObject;
  readonly role?: string;
  readonly signal: AbortSignal;
};

/** Calls a tool, as a person typed it, through the process that owns the data folder. */
export async function callRemoteTool(target: RemoteTarget, call: TypedCall): Promise<Json> {
  const { owner, toolId, args, role, signal } = call;
  const path = `/tools/${encodeURIComponent(toolId)}/call`;
  const response = await callRemote(target, { owner, method: "POST", path, body: { args, role, typed: true }, signal });
  return Called.parse(await readJson(response, signal)).output;
}

/** The tools that the process that owns the data folder knows. */
export async function listRemoteTools(
  target: RemoteTarget,
  owner: string,
  { wait = false }: { /** For servers that are starting. */ readonly wait?: boolean } = {},
): Promise<readonly ToolSummary[]> {
  const headers = wait ? { headers: { prefer: "wait=10" } } : {};
  return Listed.parse(await readJson(await callRemote(target, { owner, path: "/tools", ...headers }))).items;
}

const CalledFor = z.union([
  z.object({ output: Json }).transform(({ output }) => ({ kind: "finished", output }) as const),
  z
    .object({ approvalId: z.string(), sessionId: z.string() })
    .transform((waiting) => ({ kind: "needs_approval", ...waiting }) as const),
]);

/** Calls a tool for somebody who is kept to what they may do: a person may have to approve it first. */
export async function callRemoteToolFor(
  target: RemoteTarget,
  { owner, toolId, args, signal }: Pick<TypedCall, "owner" | "toolId" | "args" | "signal">,
): Promise<z.infer<typeof CalledFor>> {
  const path = `/tools/${encodeURIComponent(toolId)}/call`;
  const response = await callRemote(target, { owner, method: "POST", path, body: { args }, signal });
  return CalledFor.parse(await readJson(response, signal));
}
