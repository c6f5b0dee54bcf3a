/*
 * The engine of another process, the one that owns the data folder, spoken to over loopback.
 *
 * R1  What the owner refuses is thrown here with the same code and details.
 * R2  When the owner disappears, every promise rejects with `owner_gone` (retryable), so that the caller can claim
 *     the folder and go on itself. `details.sent` says whether the request may have been carried out.
 * R3  An event that `follow` gave is not given again, and none is left out, however often the connection breaks.
 */
import { type AgenticPlan, Json, SessionCore } from "@ergon/core";
import { Correction, HistoryEntry, isSettled, OpenCall, RunDiff, SessionContext } from "@ergon/core/schema";
import { MAX_PAGE_ROWS } from "@ergon/core/store-kit";
import type { Engine, ExecutePlan, SessionRef, SessionView, Waiting } from "@ergon/core/engine";
import { z } from "zod";
import { followRemote } from "./follow-remote.ts";
import { blobPath, sessionPath } from "./paths.ts";
import { callRemote, guarded, readJson, type RemoteRequest, type RemoteTarget } from "./remote-call.ts";

/** How long one request waits for a session to settle; then the next one does. */
const SETTLE_POLL_MS = 20_000;

const Accepted = z.object({ core: SessionCore });
const View = z.object({
  core: SessionCore,
  context: SessionContext,
  history: z.array(HistoryEntry),
  nextCursor: z.string().optional(),
  openCalls: z.array(OpenCall).optional(),
  corrections: z.array(Correction).optional(),
});
const SessionPage = z.object({ items: z.array(SessionCore), nextCursor: z.string().optional() });
const Called = z.union([
  z.object({ output: Json }).transform(({ output }) => ({ kind: "finished", output }) as const),
  z
    .object({ approvalId: z.string(), sessionId: z.string() })
    .transform((waiting) => ({ kind: "needs_approval", ...waiting }) as const),
  z.object({ sessionId: z.string() }).transform(({ sessionId }) => ({ kind: "started", sessionId }) as const),
]);

export function createRemoteEngine(target: RemoteTarget): Engine {
  return {
    createSession: async ({ owner, ...body }) =>
      SessionCore.parse(await ask({ owner, method: "POST", path: "/sessions", body })),
    startRun: async ({ owner, plan, input, id }) => {
      const body = { ...planField(plan), input, id };
      return Accepted.parse(await ask({ owner, method: "POST", path: "/runs", body })).core;
    },
    executePlan: async ({ plan, input, create, id, ...request }) =>
      await change(request, "execute-plan", { ...planField(plan), input, create, id }),
    // Progress is heard only in the process that runs the tool.
    callTool: async ({ owner, toolId, args, sessionId, typed, follow, signal }) => {
      const body = { args, sessionId, follow, role: typed?.role, ...(typed === undefined ? {} : { typed: true }) };
      const path = `/tools/${encodeURIComponent(toolId)}/call`;
      const request = { owner, method: "POST", path, body } as const;
      return Called.parse(await ask(signal === undefined ? request : { ...request, signal }));
    },
    resume: async ({ step, input, mayApprove, ...request }) =>
      await change(request, "resume", { step, input, ...(mayApprove === false ? { mayApprove } : {}) }),
    cancel: async (ref) => await change(ref, "cancel", {}),
    fork: async ({ fromStep, input, newSessionId: sessionId, repeatOnce, ...ref }) =>
      await change(ref, "fork", { fromStep, input, sessionId, repeatOnce }),
    readSession: async ({ historyLimit, historyCursor, waitMs, signal, ...ref }) => {
      const query = {
        limit: historyLimit === undefined ? undefined : pageRows(historyLimit, 0),
        cursor: historyCursor,
      };
      const read = { owner: ref.owner, path: sessionPath(ref.sessionId), query };
      const { nextCursor, openCalls, corrections, ...found } = await patiently(
        { waitMs: waitMs ?? 0, signal },
        async (headers, dismissed) => View.parse(await ask({ ...read, headers, ...dismissed })),
      );
      const more = nextCursor === undefined ? {} : { nextCursor };
      const open = openCalls === undefined ? {} : { openCalls };
      return {
        ...found,
        ...more,
        ...open,
        ...(corrections === undefined ? {} : { corrections }),
      } satisfies SessionView;
    },
    diff: async ({ withSessionId, ...ref }) => {
      const query = { with: withSessionId };
      return RunDiff.parse(await ask({ owner: ref.owner, path: `${sessionPath(ref.sessionId)}/diff`, query }));
    },
    listSessions: async ({ owner, status, runId, limit, cursor }) => {
      const query = { status: status?.join(","), runId, limit: pageRows(limit, 1), cursor };
      const { items, nextCursor } = SessionPage.parse(await ask({ owner, path: "/sessions", query }));
      return { items, ...(nextCursor === undefined ? {} : { nextCursor }) };
    },
    settled: async ({ timeoutMs, signal, owner, sessionId }) => {
      const read = { owner, path: sessionPath(sessionId), query: { view: "core" } };
      const { core } = await patiently({ waitMs: timeoutMs ?? Infinity, signal }, async (headers, dismissed) =>
        Accepted.parse(await ask({ ...read, headers, ...dismissed })),
      );
      return core;
    },
    follow: (request) => followRemote(target, request),
    readBlob: async ({ owner, id }) => {
      const response = await callRemote(target, { owner, path: blobPath(id) });
      const bytes = new Uint8Array(await guarded(undefined, () => response.arrayBuffer()));
      return { bytes, mediaType: response.headers.get("content-type") ?? "application/octet-stream" };
    },
  };

  async function ask(request: RemoteRequest): Promise<unknown> {
    return await readJson(await callRemote(target, request), request.signal);
  }

  /** It waits no longer than one request does: what was accepted is waited for by reading. */
  async function change(
    { owner, sessionId, waitMs, signal }: SessionRef & Waiting,
    verb: string,
    body: unknown,
  ): Promise<SessionCore> {
    const path = `${sessionPath(sessionId)}/${verb}`;
    const request = { owner, method: "POST", path, body } as const;
    if (waitMs === undefined) return Accepted.parse(await ask(request)).core;
    const patience = {
      query: { view: "core" },
      headers: waitHeader(waitMs),
      ...(signal === undefined ? {} : { signal }),
    };
    try {
      return Accepted.parse(await ask({ ...request, ...patience })).core;
    } catch (thrown) {
      if (!isAborted(signal)) throw thrown;
      return Accepted.parse(await ask({ owner, path: sessionPath(sessionId), query: { view: "core" } })).core;
    }
  }
}

/** Reads a session until it has settled, the time is over, or the signal aborts: then as it is. */
async function patiently<T extends { readonly core: SessionCore }>(
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal | undefined },
  read: (headers: RemoteRequest["headers"] & {}, dismissed: { readonly signal?: AbortSignal }) => Promise<T>,
): Promise<T> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0 || signal?.aborted === true) return read({}, {});
    try {
      const found = await read(waitHeader(leftMs), signal === undefined ? {} : { signal });
      if (isSettled(found.core) || performance.now() >= deadlineMs) return found;
    } catch (thrown) {
      if (!isAborted(signal)) throw thrown;
    }
  }
}

/** Read anew: it changes while a request is under way. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function waitHeader(waitMs: number): { readonly prefer: string } {
  return { prefer: `wait=${(Math.min(waitMs, SETTLE_POLL_MS) / 1_000).toFixed(3)}` };
}

function planField(plan: ExecutePlan["plan"]): { readonly planId: string } | { readonly plan: AgenticPlan } {
  return typeof plan === "string" ? { planId: plan } : { plan };
}

function pageRows(wanted: number, least: number): string {
  return String(Math.min(Math.max(wanted, least), MAX_PAGE_ROWS));
}
