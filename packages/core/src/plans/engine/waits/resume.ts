/*
 * Answers an open wait of a session. Covered by engine-contract.test.ts, questions.test.ts and races.test.ts.
 */
import { accessError } from "../../../errors/access.ts";
import { engineStopping, planError } from "../../../errors/plan.ts";
import { isoTime } from "../../../ports/clock.ts";
import type { ResumeSession, SessionRef } from "../../../ports/engine.ts";
import type { SessionRecord } from "../../../ports/state-store.ts";
import type { OpenWait, SessionCore } from "../../../schema/session.ts";
import type { Json } from "../../../schema/values/json.ts";
import { offload } from "../../../tools/gate/offload.ts";
import { stepOf } from "../../interpreter.ts";
import type { Completion, Decision } from "../../transition.ts";
import { readCorrections } from "../correction-rows.ts";
import type { EngineDeps } from "../engine-deps.ts";
import { deliver } from "../run/deliver.ts";
import type { RunPool } from "../run/run-pool.ts";
import { answerFor, chooseWait } from "./resume-input.ts";
import { placedWaits } from "./waits.ts";

export type ResumeParts = {
  readonly deps: EngineDeps;
  readonly pool: RunPool;
  readonly record: (session: SessionRef) => Promise<SessionRecord>;
  readonly isDraining: () => boolean;
};

export function createResume({
  deps,
  pool,
  record,
  isDraining,
}: ResumeParts): (request: ResumeSession) => Promise<SessionCore> {
  return resume;

  async function resume({ owner, sessionId, step, input, mayApprove }: ResumeSession): Promise<SessionCore> {
    await record({ owner, sessionId });
    let meant: string | undefined;
    let heard = false;
    const told = await deliver(pool, { owner, sessionId }, async ({ state: { plan, cursor } }) => {
      const waits = placedWaits(plan, cursor);
      // One answer is for one wait: if that has been answered meanwhile, it is not for the next.
      const chosen = meant === undefined ? chooseWait(waits, step) : waits.find(({ position }) => position === meant);
      if (chosen === undefined) return undefined;
      meant = chosen.position;
      const answer = await answerFor(chosen, stepOf(plan, chosen.wait.stepId), input, deps.clock.now());
      if (answer.kind === "reviewed" && mayApprove === false)
        throw accessError("forbidden", "Accepting or refusing a correction needs a token with scope person.");
      // An answer that was heard before, and whose acknowledgement was lost, is given again.
      heard = answer.kind === "reviewed" && chosen.wait.correction?.accepted === true;
      if (heard) return undefined;
      const kept = await keepAnswer({ owner, sessionId }, answer);
      return { ...kept, ...(await settledCorrection(sessionId, chosen.wait, kept)) };
    });
    if (told !== undefined) return told;
    if (heard) return (await record({ owner, sessionId })).core;
    if (isDraining()) throw engineStopping();
    throw planError("wait_not_open", `The wait of session ${sessionId} has just been answered.`);
  }

  /** What an answer makes of the correction that was meant for the same failure. */
  async function settledCorrection(
    sessionId: string,
    { correction: proposed }: OpenWait,
    answer: Completion,
  ): Promise<Pick<Completion, "correction">> {
    if (proposed === undefined) return {};
    const all = await readCorrections(deps.store, sessionId);
    const stands = all.find(({ correctionId }) => correctionId === proposed.correctionId);
    if (stands === undefined) return {};
    const reviewed = answer.kind === "reviewed" && answer.accepted ? "accepted" : "refused";
    const state = answer.kind === "reviewed" ? reviewed : "superseded";
    return { correction: { ...stands, state, settledAt: isoTime(deps.clock) } };
  }

  async function keepAnswer(session: SessionRef, answer: Completion): Promise<Completion> {
    if (answer.kind === "answered") return { ...answer, input: await keep(session, answer.input) };
    const output = answer.kind === "decided" && "output" in answer.decision ? answer.decision.output : undefined;
    if (answer.kind !== "decided" || output === undefined) return answer;
    return { ...answer, decision: { ...answer.decision, output: await keep(session, output) } as Decision };
  }

  /** A large answer is kept as a blob, like any large value. */
  async function keep({ owner, sessionId }: SessionRef, input: Json): Promise<Json> {
    const { value, blob } = offload(input);
    if (blob === undefined) return value;
    await deps.blobs.put(blob.bytes, blob.ref.mediaType);
    await deps.store.commit({ sessionId, owner, blobs: [{ ref: blob.ref, at: isoTime(deps.clock) }] });
    return value;
  }
}
