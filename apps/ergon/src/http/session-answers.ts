import { SessionCore } from "@ergon/core";
import { Correction, HistoryEntry, isSettled, OpenCall, SessionContext } from "@ergon/core/schema";
import type { Engine, SessionRef } from "@ergon/core/engine";
import { z } from "zod";
import type { Answer, RequestContext } from "./server/route.ts";

export const CoreAnswer = z.object({ core: SessionCore });
export const ViewAnswer = z.object({
  core: SessionCore,
  context: SessionContext.optional(),
  history: z.array(HistoryEntry).optional(),
  nextCursor: z.string().optional(),
  openCalls: z.array(OpenCall).optional(),
  corrections: z.array(Correction).optional(),
});

export const ACCEPTED = {
  202: { description: "Accepted; the session goes on by itself", schema: CoreAnswer },
  200: { description: "With Prefer: wait, the session as it settled", schema: ViewAnswer },
};

/** 202 at once, or 200 with all of it when the caller prefers to wait and it settles in time. */
export async function accepted(
  engine: Engine,
  core: SessionCore,
  asker: RequestContext,
  view?: "core" | "full",
): Promise<Answer> {
  if (asker.waitMs === undefined) return { status: 202, body: { core } };
  const ref = { owner: asker.owner, sessionId: core.sessionId };
  const headers = { "preference-applied": `wait=${String(Math.ceil(asker.waitMs / 1_000))}` };
  const later = await settled(engine, ref, asker);
  if (!isSettled(later)) return { status: 202, headers, body: { core: later } };
  if (view === "core") return { status: 200, headers, body: { core: later } };
  return { status: 200, headers, body: await engine.readSession(ref) };
}

export async function settled(
  engine: Engine,
  ref: SessionRef,
  { waitMs = 0, dismissed }: RequestContext,
): Promise<SessionCore> {
  const signal = waitMs === 0 ? {} : { signal: dismissed() };
  return await engine.settled({ ...ref, timeoutMs: waitMs, ...signal });
}
