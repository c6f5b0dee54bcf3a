/*
 * Brings back the sessions that an earlier process left unfinished, oldest first.
 * Covered by engine-contract.test.ts, bounds.test.ts and the crash simulation.
 */
import type { SessionRef } from "../../../ports/engine.ts";
import { MAX_PAGE_ROWS, type SessionRecord } from "../../../ports/state-store.ts";
import type { SessionCore } from "../../../schema/session.ts";
import { cursorOf } from "../../cursor.ts";
import type { EngineDeps } from "../engine-deps.ts";
import { type Dues, duesOf } from "../waits/waits.ts";

/** Runs that recovery brings back at once, oldest first. */
export const RECOVERY_PARALLEL = 128;

export type RecoveryParts = {
  readonly deps: EngineDeps & { readonly stopping: AbortSignal };
  readonly isActive: (sessionId: string) => boolean;
  readonly isDraining: () => boolean;
  /** Never rejects. */
  readonly takeUp: (session: SessionRef) => Promise<void>;
  readonly sleep: (session: SessionRef, dues: Dues) => void;
  readonly failed: (sessionId: string, thrown: unknown) => void;
};

export async function recoverSessions(parts: RecoveryParts): Promise<{ readonly takenUp: number }> {
  const { deps } = parts;
  let takenUp = 0;
  const pending = new Set<Promise<void>>();
  for await (const record of unfinished(parts)) {
    if (parts.isDraining()) break;
    const { core, owner } = record;
    if (core.status !== "running") {
      wakeSleepers(parts, record);
      if (!(await isAnswered(deps, core))) continue;
    }
    takenUp++;
    const taken = parts.takeUp({ owner, sessionId: core.sessionId }).finally(() => pending.delete(taken));
    pending.add(taken);
    if (pending.size >= RECOVERY_PARALLEL) await Promise.race(pending);
    // A store may answer without ever letting go: requests, timers and the runs brought back so far get their turn.
    if (takenUp % RECOVERY_PARALLEL === 0) await deps.clock.sleep(0, deps.stopping);
  }
  await Promise.all(pending);
  return { takenUp };
}

/** A branch may sleep while its siblings wait for a person. */
function wakeSleepers({ deps, sleep, failed }: RecoveryParts, record: SessionRecord): void {
  const { sessionId } = record.core;
  try {
    const cursor = cursorOf(record);
    if (cursor !== null) sleep({ owner: record.owner, sessionId }, duesOf(cursor, deps.clock));
  } catch (thrown) {
    failed(sessionId, thrown);
  }
}

/** Whether a person has answered and the process ended before the session heard it. */
async function isAnswered({ approvals }: EngineDeps, { waiting }: SessionCore): Promise<boolean> {
  for (const { approvalId } of waiting) {
    if (approvalId === undefined) continue;
    if ((await approvals?.read(approvalId))?.state !== "pending") return true;
  }
  return false;
}

/** Sessions that can go on by themselves, oldest first. */
async function* unfinished({ deps, isActive }: RecoveryParts): AsyncGenerator<SessionRecord> {
  let cursor: string | undefined;
  do {
    const query = {
      status: ["running", "paused", "paused_on_human", "paused_on_error"],
      order: "oldest",
      limit: MAX_PAGE_ROWS,
    } as const;
    const page = await deps.store.listSessions(cursor === undefined ? query : { ...query, cursor });
    for (const found of page.items) if (found.cursor !== null && !isActive(found.core.sessionId)) yield found;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}
