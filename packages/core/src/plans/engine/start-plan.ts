import { isErgonError } from "../../errors/ergon-error.ts";
import { planError } from "../../errors/plan.ts";
import { isoTime } from "../../ports/clock.ts";
import type { ExecutePlan } from "../../ports/engine.ts";
import type { SessionRecord } from "../../ports/state-store.ts";
import { canonicalJson, sha256Hex } from "../../schema/hash.ts";
import type { Json } from "../../schema/json.ts";
import type { AgenticPlan } from "../../schema/plan.ts";
import type { SessionCore } from "../../schema/session.ts";
import { didYouMean } from "../../schema/suggest.ts";
import { offload } from "../../tools/offload.ts";
import { validatePlan } from "../validate-plan.ts";
import type { BlobCache } from "./blob-cache.ts";
import type { EngineDeps, PlanLookup } from "./engine-deps.ts";
import { openRunData } from "./open-run.ts";
import type { RunPool } from "./run-pool.ts";
import { newRunState } from "./run-state.ts";

/** Checks a plan and writes its first commit; the run goes on by itself from there. */
export async function startPlan(
  deps: EngineDeps & { readonly blobCache: BlobCache; readonly plans: PlanLookup; readonly pool: RunPool },
  record: SessionRecord,
  { owner, sessionId, plan: asked, input }: ExecutePlan,
): Promise<SessionCore> {
  const plan = typeof asked === "string" ? namedPlan(deps.plans, asked) : asked;
  const checked = preflight(deps, plan, input, record.core.mode);
  const kept = offload(checked.input);
  if (kept.blob !== undefined) await deps.blobs.put(kept.blob.bytes, kept.blob.ref.mediaType);
  const data = await openRunData(deps, { owner, sessionId }, checked.input);
  await data.openScope("");
  const { lastError: _cleared, ...core } = record.core;
  const run = core.run + 1;
  const { planId, startStepId } = checked.plan;
  const started: SessionCore = { ...core, status: "running", run, currentPlanId: planId, waiting: [] };
  const hash = sha256Hex(canonicalJson(checked.plan as unknown as Json));
  const cursor = { run, root: { at: startStepId, slot: 0, state: { kind: "ready" } } } as const;
  const running = deps.pool.adopt(
    newRunState({ ...record, core: started }, deps.pool.compiled(hash, checked.plan), data, cursor),
  );
  try {
    await running.start({
      plan: { hash, plan: checked.plan },
      planHash: hash,
      input: kept.value,
      blobs: kept.blob === undefined ? [] : [{ ref: kept.blob.ref, at: isoTime(deps.clock) }],
    });
  } catch (thrown) {
    deps.pool.drop(running);
    if (!isErgonError(thrown) || thrown.code !== "session_conflict") throw thrown;
    throw planError("session_busy", `Session ${sessionId} has just been given another plan.`, { cause: thrown });
  }
  return running.state.core;
}

function namedPlan(plans: PlanLookup, planId: string): AgenticPlan {
  const plan = plans.get(planId);
  if (plan !== undefined) return plan;
  throw planError("plan_not_found", `There is no plan "${planId}".${didYouMean(planId, plans.ids())}`, {
    details: { planId },
  });
}

function preflight(
  deps: EngineDeps,
  plan: AgenticPlan,
  input: Json | undefined,
  role: string | undefined,
): { readonly plan: AgenticPlan; readonly input: Json } {
  const report = validatePlan(plan, {
    registry: deps.registry,
    input: input ?? {},
    ...(role === undefined ? {} : { role }),
  });
  if (report.ok && report.plan !== undefined) return { plan: report.plan, input: report.input ?? {} };
  const errors = report.problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  const count = errors.length === 1 ? "a problem" : `${String(errors.length)} problems`;
  const message = `The plan or its input has ${count}: ${first === undefined ? "it cannot be read." : `${first.path}: ${first.message}`}`;
  throw planError("plan_invalid", message, { details: { problems: report.problems } });
}
