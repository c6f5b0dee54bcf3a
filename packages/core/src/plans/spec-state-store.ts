import { z } from "zod";
import { storeError } from "../errors/store.ts";
import { toErgonError } from "../errors/ergon-error.ts";
import type { BlobStore } from "../ports/blob-store.ts";
import { isoTime, type Clock } from "../ports/clock.ts";
import type { Commit, IStateStore, SessionRecord, StateStore } from "../ports/state-store.ts";
import { jsonProblem, type Json } from "../schema/values/json.ts";
import { SessionCore, SessionError, StepResult } from "../schema/session.ts";
import { storedValue } from "./engine/run/run-data.ts";
import { decodePosition, encodePart, encodePosition } from "./position.ts";

/** Entries that were appended by hand lie before every run, in the order in which they came. */
const BY_HAND = 0;

/** Spec 4's store on top of ours: every method is one commit, so each keeps the promises of `StateStore`. */
export function createSpecStateStore(deps: {
  readonly store: StateStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  readonly owner: string;
}): IStateStore {
  const { store, blobs, clock, owner } = deps;

  const record = async (sessionId: string): Promise<SessionRecord> => {
    const found = await store.readSession(sessionId);
    if (found === undefined || found.owner !== owner)
      throw storeError("session_not_found", `No session "${sessionId}".`);
    return found;
  };
  const write = async (sessionId: string, commit: Omit<Commit, "sessionId" | "owner" | "durable">): Promise<void> => {
    await store.commit({ sessionId, owner, durable: true, ...commit });
  };

  return {
    createSession: async (given) => {
      const parsed = SessionCore.safeParse({ ...NEW_SESSION, ...given, ...lastErrorOf(given.lastError) });
      if (!parsed.success) throw storeError("commit_invalid", `This is no session: ${z.prettifyError(parsed.error)}`);
      await write(given.sessionId, { session: { core: parsed.data, cursor: null }, expectVersion: 0 });
    },
    readSessionCore: async (sessionId) => {
      const found = await store.readSession(sessionId);
      return found === undefined || found.owner !== owner ? null : found.core;
    },
    updateSessionStatus: async (sessionId, status, error) => {
      const { core, cursor, version } = await record(sessionId);
      const { lastError: _before, ...rest } = core;
      const session = { core: { ...rest, ...lastErrorOf(error), status, updatedAt: isoTime(clock) }, cursor };
      await write(sessionId, { session, expectVersion: version });
    },
    appendToHistory: async (sessionId, entry) => {
      await record(sessionId);
      const position = await nextByHand(store, sessionId);
      const { planStepId, toolId, timestamp } = entry;
      await write(sessionId, {
        journal: [
          {
            kind: "whole",
            position,
            scope: "",
            ...(planStepId === undefined ? {} : { stepId: planStepId }),
            toolId,
            effects: "once",
            key: `${sessionId}:${position}`,
            argsHash: "",
            request: json(entry.request, "request"),
            at: timestamp,
            finishedAt: timestamp,
            state: "finished",
            result: resultOf(entry.result),
            energyUnits: 0,
          },
        ],
      });
    },
    getContext: async (sessionId) => {
      await record(sessionId);
      const context: Record<string, unknown> = {};
      for (const { key, value } of await store.readContext(sessionId, [""]))
        context[key] = await storedValue(store, sessionId, value);
      return context;
    },
    updateContext: async (sessionId, updates) => {
      await record(sessionId);
      const context = Object.entries(updates).map(([key, value]) => ({
        scope: "",
        key,
        value: { kind: "inline" as const, value: json(value, key) },
      }));
      await write(sessionId, { context });
    },
    putBlob: async (sessionId, bytes, mediaType) => {
      await record(sessionId);
      const ref = await blobs.put(bytes, mediaType);
      await write(sessionId, { blobs: [{ ref, at: isoTime(clock) }] });
      return ref;
    },
    getBlob: async (sessionId, id) => {
      await record(sessionId);
      if ((await store.readBlobRow(id, owner)) === undefined) throw storeError("blob_not_found", `No blob "${id}".`);
      return blobs.get(id);
    },
  };
}

/** What our sessions have beyond spec 4's. */
const NEW_SESSION = { waiting: [], run: 0, energySpent: 0 };

/** Spec 4 leaves an error's form open. */
function lastErrorOf(error: unknown): { readonly lastError?: SessionError } {
  if (error === undefined) return {};
  const known = SessionError.safeParse(error);
  return { lastError: known.success ? known.data : (toErgonError(error, "session_failed").toJSON() as SessionError) };
}

async function nextByHand(store: StateStore, sessionId: string): Promise<string> {
  const range = { from: encodePart(BY_HAND), to: encodePart(BY_HAND + 1) };
  const [newest] = await store.readJournal({ sessionId, ranges: [range], order: "newest", limit: 1 });
  const last = newest === undefined ? -1 : (decodePosition(newest.position)[1] ?? -1);
  return encodePosition([BY_HAND, last + 1]);
}

/** Spec 4 leaves a result's form open; what is not `{output}` or `{error}` is an output. */
function resultOf(result: unknown): StepResult {
  const parsed = StepResult.safeParse(result);
  return parsed.success ? parsed.data : { output: json(result, "result") };
}

function json(value: unknown, where: string): Json {
  const problem = jsonProblem(value);
  if (problem !== undefined) throw storeError("commit_invalid", `"${where}" is not JSON: ${problem}.`);
  return value as Json;
}
