import type { Json } from "@ergon/core";
import { PlanVerdict } from "@ergon/core/schema";
import { callRemote, readJson, type RemoteTarget } from "./remote-call.ts";

/** What the process that owns the data folder finds wrong with a plan: it knows the tools. */
export async function validateRemotePlan(
  target: RemoteTarget,
  { owner, plan, input }: { readonly owner: string; readonly plan: unknown; readonly input?: Json | undefined },
): Promise<PlanVerdict> {
  const body = { plan, ...(input === undefined ? {} : { input }) };
  return PlanVerdict.parse(
    await readJson(await callRemote(target, { owner, method: "POST", path: "/plans/validate", body })),
  );
}
