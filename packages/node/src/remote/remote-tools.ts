import { ToolSummary } from "@ergon/core/schema";
import { z } from "zod";
import { callRemote, readJson, type RemoteTarget } from "./remote-call.ts";

const Listed = z.object({ items: z.array(ToolSummary) });

/** The tools that the process that owns the data folder knows. */
export async function listRemoteTools(
  target: RemoteTarget,
  owner: string,
  { wait = false }: { /** For servers that are starting. */ readonly wait?: boolean } = {},
): Promise<readonly ToolSummary[]> {
  const headers = wait ? { headers: { prefer: "wait=10" } } : {};
  return Listed.parse(await readJson(await callRemote(target, { owner, path: "/tools", ...headers }))).items;
}
