import { planError } from "../errors/plan.ts";
import { isoTime, type Clock } from "../ports/clock.ts";
import { isBlobRef, JSON_MEDIA_TYPE } from "../schema/blob.ts";
import type { EventType } from "../schema/event.ts";
import type { Json, JsonObject } from "../schema/json.ts";
import type { MCPRequest } from "../schema/mcp-loop.ts";
import type { ToolSource } from "../plans/engine/engine-deps.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { Tool } from "../tools/tool.ts";
import type { CarriedContext } from "./carried-context.ts";
import type { RunPlace } from "./execute-actions.ts";
import type { OwnPlaces, ReadBlob } from "./run-place.ts";

/** The session that a turn belongs to, wherever it is kept. */
export type TurnSession = {
  readonly place: RunPlace;
  readonly source: ToolSource;
  /** What earlier turns left. */
  readonly before: JsonObject;
  /** What the session holds now. */
  readonly after: () => Promise<JsonObject>;
  /** A value whole, where nobody could follow its reference later. */
  readonly whole: (value: Json) => Promise<Json>;
  /** Into the session's events, for whoever follows it; nothing where sessions are not kept. */
  readonly tell: (type: EventType, data: JsonObject) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type SessionParts = {
  readonly registry: ToolRegistry;
  readonly clock: Clock;
  readonly place: RunPlace | undefined;
  readonly own: OwnPlaces;
  readonly keepsSessions: boolean;
  readonly carried: CarriedContext;
};

/** Throws `session_not_found` for another's session, `session_busy` while a plan of it is unfinished. */
export async function openSession(
  parts: SessionParts,
  request: MCPRequest,
  { owner, added }: { readonly owner: string; readonly added: readonly Tool[] },
): Promise<TurnSession> {
  const { sessionId } = request;
  const own = parts.place === undefined ? parts.own.tools(added) : undefined;
  const opened = own === undefined ? undefined : parts.own.open(own);
  const place = parts.place ?? opened;
  if (place === undefined) throw new Error("There is no place to run in.");
  const source = own ?? parts.registry;
  const close = opened?.close ?? (() => Promise.resolve());
  const ref = { owner, sessionId };
  if (!parts.keepsSessions) {
    return {
      place,
      source,
      before: parts.carried.read(owner, sessionId),
      after: async () => {
        const { context } = await place.engine.readSession({ ...ref, historyLimit: HISTORY_ROWS });
        const whole = await wholeValues(context, opened?.readBlob);
        parts.carried.write(owner, sessionId, whole);
        return whole;
      },
      whole: (value) => wholeValue(value, opened?.readBlob),
      tell: () => Promise.resolve(),
      close,
    };
  }
  try {
    await readySession(place, request, owner);
    const read = async (): Promise<JsonObject> =>
      (await place.engine.readSession({ ...ref, historyLimit: HISTORY_ROWS })).context;
    return {
      place,
      source,
      before: await read(),
      after: read,
      whole: (value) => Promise.resolve(value),
      tell: async (type, data) => {
        await place.store.commit({ sessionId, owner, events: [{ type, at: isoTime(parts.clock), data }] });
      },
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** The context is what is wanted; its newest values come with these. */
const HISTORY_ROWS = 10;

async function readySession({ engine, store }: RunPlace, request: MCPRequest, owner: string): Promise<void> {
  const { sessionId, mode } = request;
  const record = await store.readSession(sessionId);
  if (record === undefined) {
    await engine.createSession({ owner, sessionId, mode });
    return;
  }
  await engine.readSession({ owner, sessionId, historyLimit: HISTORY_ROWS });
  if (record.frames === null) return;
  const { status } = record.core;
  throw planError("session_busy", `Session ${sessionId} has an unfinished plan (${status}).`, { details: { status } });
}

async function wholeValues(context: JsonObject, readBlob: ReadBlob | undefined): Promise<JsonObject> {
  const entries = Object.entries(context).map(
    async ([key, value]) => [key, await wholeValue(value, readBlob)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

async function wholeValue(value: Json, readBlob: ReadBlob | undefined): Promise<Json> {
  if (readBlob === undefined || !isBlobRef(value) || value.mediaType !== JSON_MEDIA_TYPE) return value;
  return JSON.parse(new TextDecoder().decode(await readBlob(value.$blob))) as Json;
}
