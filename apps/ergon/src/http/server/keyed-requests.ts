/*
 * Requests that carry an `Idempotency-Key`: what one starts, it starts once, however often it is sent.
 *
 * I1  Of several with one key at a time, the first is answered, and the others get its answer.
 * I2  The key and the id of what the request starts are kept before it starts. Where a process dies in between, the
 *     request, sent again, finds what it started by that id.
 * I3  A refused request that changed nothing leaves no key; an answer that was a 5xx is not kept, its key is.
 */
import { type Clock, isErgonError, type Json, type Logger, toErgonError } from "@ergon/core";
import { canonicalJson, sha256Hex, storeError, usageError } from "@ergon/core/schema";
import { createTurns, type Ids, isoTime } from "@ergon/core/store-kit";
import type { RequestKeyStore } from "@ergon/core/engine";
import { problemOf } from "./problem.ts";
import type { Answer, RequestContext } from "./route.ts";

export const IDEMPOTENCY_KEY = "Idempotency-Key";
export const MAX_KEY_CHARS = 255;
const KEPT_MS = 24 * 60 * 60 * 1_000;
/** A longer answer is not kept: sent again, the request is answered with what it started as that is then. */
export const MAX_KEPT_CHARS = 256 * 1024;

export type KeyedRequests = (
  request: { readonly owner: string; readonly key: string; readonly asked: Json },
  handle: (start: NonNullable<RequestContext["start"]>) => Promise<Answer>,
) => Promise<Answer>;

export function createKeyedRequests({
  store,
  ids,
  clock,
  logger,
}: {
  readonly store: RequestKeyStore;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: Logger;
}): KeyedRequests {
  const inTurn = createTurns();

  async function answerOnce(
    { owner, key, asked }: Parameters<KeyedRequests>[0],
    handle: Parameters<KeyedRequests>[1],
  ): Promise<Answer> {
    const ref = { owner, key };
    const fingerprint = sha256Hex(canonicalJson(asked));
    const startId = ids.next("key");
    const since = new Date(clock.now() - KEPT_MS).toISOString();
    const request = await store.begin({ ...ref, fingerprint, startId, at: isoTime(clock), since });
    if (request.fingerprint !== fingerprint) throw otherRequest();
    if (request.answer !== undefined) return replayed(request.answer);
    const wasSent = request.startId !== startId;
    try {
      const answer = await handle({ id: request.startId, wasSent });
      await keep(ref, answer);
      return answer;
    } catch (thrown) {
      if (!wasSent && changedNothing(thrown)) await store.forget(ref);
      throw thrown;
    }
  }

  /** What the request started has begun, so its answer is given also when it cannot be kept (I2). */
  async function keep(ref: { readonly owner: string; readonly key: string }, answer: Answer): Promise<void> {
    const text = textOf(answer);
    if (text === undefined || text.length > MAX_KEPT_CHARS) return;
    try {
      await store.finish(ref, text);
    } catch (thrown) {
      const error = toErgonError(thrown, "store_unavailable").toJSON();
      logger.warn({ error }, "The answer to a request with an Idempotency-Key could not be kept.");
    }
  }

  return async (request, handle) => {
    checkKey(request.key);
    return await inTurn(JSON.stringify([request.owner, request.key]), () => answerOnce(request, handle));
  };
}

function checkKey(key: string): void {
  if (key.length <= MAX_KEY_CHARS && /^[\x20-\x7e]+$/.test(key)) return;
  throw usageError(
    "input_invalid",
    `The header ${IDEMPOTENCY_KEY} has 1 to ${String(MAX_KEY_CHARS)} printable ASCII characters.`,
  );
}

function otherRequest(): Error {
  return storeError(
    "run_conflict",
    `This ${IDEMPOTENCY_KEY} belongs to another request of the last 24 hours. Send the same request, or use another key.`,
  );
}

/** Refusals that came after something was begun: sent again, the request comes to the same. */
const SETTLED = new Set(["approval_denied", "approval_expired", "approval_withdrawn", "cancelled"]);

function changedNothing(thrown: unknown): boolean {
  const { status } = problemOf(thrown, "").problem;
  return status < 500 && !(isErgonError(thrown) && SETTLED.has(thrown.code));
}

function textOf(answer: Answer): string | undefined {
  const { status, headers = {} } = answer;
  if ("body" in answer) return JSON.stringify({ status, headers, json: JSON.stringify(answer.body) });
  return "json" in answer ? JSON.stringify({ status, headers, json: answer.json }) : undefined;
}

function replayed(text: string): Answer {
  const answer = JSON.parse(text) as Extract<Answer, { json: string }>;
  return { ...answer, headers: { ...answer.headers, "idempotency-replayed": "true" } };
}
