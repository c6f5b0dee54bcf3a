import type { RunRow } from "@ergon/core/store-kit";
import type { Reader } from "../database/reader.ts";

export function readRun(
  { all }: Reader,
  { owner, id }: { readonly owner: string; readonly id: string },
): RunRow | undefined {
  const [row] = all<RunColumns>(
    `SELECT r.hash, r.ended_at AS endedAt, s.id AS sessionId
     FROM runs r LEFT JOIN sessions s ON s.n = r.session_n WHERE r.id = ? AND r.owner = ?`,
    id,
    owner,
  );
  if (row === undefined) return undefined;
  const { hash, endedAt, sessionId } = row;
  return sessionId === null ? { id, hash, endedAt: endedAt ?? "" } : { id, hash, sessionId };
}

type RunColumns = { readonly hash: string; readonly endedAt: string | null; readonly sessionId: string | null };
