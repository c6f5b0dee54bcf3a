import { isErgonError } from "../errors/ergon-error.ts";
import { toMicro } from "../energy/units.ts";
import type { ConversationStore } from "../ports/conversation-store.ts";
import type { StateStore } from "../ports/state-store.ts";
import type { LoggedEntry } from "../schema/conversation.ts";
import type { NewEvent } from "../schema/event.ts";
import type { Json } from "../schema/values/json.ts";
import { redactJson } from "../schema/values/redact.ts";
import { newCore } from "../plans/engine/engine.ts";

export type EventForwarder = {
  /** Tells all that has not been told; calls at the same time share the work. Rejects when a store does not take it. */
  readonly tell: () => Promise<void>;
};

export const FORWARDED_CURSOR = "conversations";
const BATCH = 200;

/**
 * Brings the log of conversations into the state's events and energy ledger, and makes their sessions. The cursor moves in the same commit, so each
 * entry is told once, however often the process dies in between.
 */
export function createEventForwarder(deps: {
  readonly conversations: Pick<ConversationStore, "log" | "forgetPool">;
  readonly state: Pick<StateStore, "commit" | "readCursor">;
}): EventForwarder {
  const { conversations, state } = deps;
  const sessions = new Set<string>();
  let telling: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  return {
    tell: () => {
      if (telling === undefined) return start();
      // What the one under way has passed already, the next one finds.
      next ??= telling.then(start, start);
      return next;
    },
  };

  function start(): Promise<void> {
    next = undefined;
    telling = tellAll().finally(() => (telling = undefined));
    return telling;
  }

  async function tellAll(): Promise<void> {
    let told = await state.readCursor(FORWARDED_CURSOR);
    for (;;) {
      const entries = await conversations.log({ afterSeq: told, limit: BATCH });
      for (const entry of entries) {
        await tellOne(entry);
        told = entry.seq;
      }
      if (entries.some(({ conversationId }) => conversationId === "")) await conversations.forgetPool(told);
      if (entries.length < BATCH) return;
    }
  }

  async function tellOne(entry: LoggedEntry): Promise<void> {
    const { conversationId: sessionId, owner, at, seq, energy } = entry;
    const told = { sessionId, owner, energy, cursor: { name: FORWARDED_CURSOR, seq } };
    const events = eventsOf(entry);
    if (sessionId === "" || sessions.has(sessionId)) {
      await state.commit({ ...told, events });
      return;
    }
    try {
      const created: NewEvent = { type: "session-created", at, data: { sessionId } };
      const session = { core: newCore(sessionId, at), cursor: null };
      await state.commit({ ...told, session, expectVersion: 0, events: [created, ...events] });
    } catch (thrown) {
      if (!isErgonError(thrown) || thrown.code !== "session_conflict") throw thrown;
      await state.commit({ ...told, events });
    }
    if (sessions.size >= MAX_KNOWN) sessions.clear();
    sessions.add(sessionId);
  }
}

/** Sessions that are known to exist; forgotten all at once, and found again. */
const MAX_KNOWN = 10_000;

function eventsOf({ at, body, conversationId, energy, level }: LoggedEntry): readonly NewEvent[] {
  const events: NewEvent[] = [];
  switch (body.kind) {
    case "message":
      events.push({
        type: "message-received",
        at,
        data: { conversationId, messageId: body.id, content: body.content },
      });
      break;
    case "response": {
      const { id: responseId, content, by, energyLevel } = body;
      events.push({ type: "response-sent", at, data: { conversationId, responseId, content, by, energyLevel } });
      break;
    }
    case "call":
      events.push({
        type: "plan-made",
        at,
        data: { conversationId, plan: redactJson([{ tool: body.tool, args: body.args }] as Json) },
      });
      break;
    case "thought":
    case "result":
    case "note":
    case "energy":
      break;
  }
  for (const { cause, units, reference } of energy) {
    if (toMicro(units) === 0) continue;
    const data = {
      cause,
      ...(reference === undefined ? {} : { reference }),
      ...(level === undefined ? {} : { level }),
    };
    events.push(
      units > 0
        ? { type: "energy-spent", at, data: { ...data, units } }
        : { type: "energy-replenished", at, data: { ...data, units: -units } },
    );
  }
  return events;
}
