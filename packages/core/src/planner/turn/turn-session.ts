import { isErgonError } from "../../errors/ergon-error.ts";
import { planError } from "../../errors/plan.ts";
import { isoTime, type Clock } from "../../ports/clock.ts";
import { isBlobRef, JSON_MEDIA_TYPE } from "../../schema/blob.ts";
import type { EventType } from "../../schema/event.ts";
import type { Json, JsonObject } from "../../schema/values/json.ts";
import type { MCPRequest } from "../../schema/mcp-loop.ts";
import type { SessionView } from "../../ports/engine.ts";
import type { SessionCore } from "../../schema/session.ts";
import type { ToolSource } from "../../plans/engine/engine-deps.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import type { Tool } from "../../tools/tool.ts";
import type { CarriedContext } from "./carried-context.ts";
import type { RunPlace } from "./execute-actions.ts";
import { readySession } from "./ready-session.ts";
import type { OwnPlaces } from "./run-place.ts";

/** The session that a turn belongs to, wherever it is kept. */
export type TurnSession = {
  readonly place: RunPlace;
  readonly source: ToolSource;
  /** What earlier turns left. */
  readonly before: JsonObject;
  /** The session as the run before left it, where sessions are kept. */
  readonly ended?: SessionCore;
  /** What the session holds now. */
  readonly after: () => Promise<JsonObject>;
  /** A value whole, where nobody could follow its reference later. */
  readonly whole: (value: Json) => Promise<Json>;
  /** The same, wherever it is kept. */
  readonly read: (value: Json) => Promise<Json>;
  /** Into the session's events, in order, beside the work; nothing where sessions are not kept. */
  readonly tell: (type: EventType, data: JsonObject) => void;
  /** Resolves once all of that is committed; throws what kept an event from it. */
  readonly told: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type SessionParts = {
  readonly registry: ToolRegistry;
  readonly clock: Clock;
  readonly place: RunPlace | undefined;
  /** Where there is no place given. */
  readonly own: OwnPlaces | undefined;
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
  const own = parts.own?.tools(added);
  const opened = own === undefined ? undefined : parts.own?.open(own);
  const place = parts.place ?? opened;
  if (place === undefined) throw new Error("There is no place to run in.");
  const source = own ?? parts.registry;
  const close = opened?.close ?? (() => Promise.resolve());
  const ref = { owner, sessionId };
  const read = (value: Json): Promise<Json> => wholeValue(place, owner, value);
  // A caller of an engine of the loop's own has no other way to what it keeps.
  const whole = opened === undefined ? (value: Json) => Promise.resolve(value) : read;
  const view = async (): Promise<SessionView> => await place.engine.readSession({ ...ref, historyLimit: HISTORY_ROWS });
  const after = async (): Promise<JsonObject> => {
    const entries = Object.entries((await view()).context);
    return Object.fromEntries(
      await Promise.all(entries.map(async ([key, value]) => [key, await whole(value)] as const)),
    );
  };
  if (!parts.keepsSessions) {
    return {
      place,
      source,
      before: parts.carried.read(owner, sessionId),
      after: async () => {
        const context = await after();
        parts.carried.write(owner, sessionId, context);
        return context;
      },
      whole,
      read,
      tell: () => undefined,
      told: () => Promise.resolve(),
      close,
    };
  }
  const telling: Promise<unknown>[] = [];
  try {
    const { core, context } = await openView(place, request, owner);
    return {
      place,
      source,
      before: context,
      ended: core,
      after,
      whole,
      read,
      tell: (type, data) => {
        const commit = place.store.commit({ sessionId, owner, events: [{ type, at: isoTime(parts.clock), data }] });
        telling.push(commit);
        commit.catch(() => undefined);
      },
      told: async () => void (await Promise.all(telling)),
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** The context is what is wanted; its newest values come with these. */
const HISTORY_ROWS = 10;

/** Throws `session_busy` while a plan of it is unfinished. */
async function openView(
  { engine, store }: RunPlace,
  { sessionId, mode }: MCPRequest,
  owner: string,
): Promise<Pick<SessionView, "core" | "context">> {
  const view = await engine.readSession({ owner, sessionId, historyLimit: HISTORY_ROWS }).catch((thrown: unknown) => {
    if (isErgonError(thrown) && thrown.code === "session_not_found") return undefined;
    throw thrown;
  });
  if (view === undefined) return { core: await readySession(engine, { owner, sessionId, mode }), context: {} };
  if ((await store.readSession(sessionId))?.cursor === null) return view;
  const { status } = view.core;
  throw planError("session_busy", `Session ${sessionId} has an unfinished plan (${status}).`, { details: { status } });
}

async function wholeValue({ engine }: RunPlace, owner: string, value: Json): Promise<Json> {
  if (!isBlobRef(value) || value.mediaType !== JSON_MEDIA_TYPE) return value;
  const { bytes } = await engine.readBlob({ owner, id: value.$blob });
  return JSON.parse(new TextDecoder().decode(bytes)) as Json;
}
