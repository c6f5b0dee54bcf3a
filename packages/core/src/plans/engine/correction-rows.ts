import type { StateStore } from "../../ports/state-store.ts";
import { Correction } from "../../schema/correction.ts";

/**
 * Corrections are kept with the session's context, in a scope that is no list's: written in the same commit as what they
 * change, and never seen by a pointer. No position begins like this.
 */
export const CORRECTIONS_SCOPE = "~corrections";

/** All corrections of a session, oldest first. */
export async function readCorrections(store: StateStore, sessionId: string): Promise<readonly Correction[]> {
  const rows = await store.readContext(sessionId, [CORRECTIONS_SCOPE]);
  const read = rows.map(({ value }) => Correction.parse(value.kind === "inline" ? value.value : undefined));
  return read.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

function orderOf({ proposedAt, position }: Correction): string {
  return `${proposedAt} ${position}`;
}
