import { storeError } from "../errors/store.ts";
import type { Change, ConversationStore, PoolChange, Receipt } from "../ports/conversation-store.ts";
import type { ConversationRecord, EntryBody, LoggedEntry } from "../schema/conversation.ts";
import type { EnergyRow } from "../schema/energy.ts";
import { noConversation } from "../errors/conversation.ts";
import { pageLimit, pageOf, sessionCursor } from "../store-kit/store-refusals.ts";

/** Conversations that live as long as the process. */
export function createMemoryConversationStore(): ConversationStore {
  type Kept = { record: ConversationRecord; readonly entries: LoggedEntry[]; readonly n: number };
  const kept = new Map<string, Kept>();
  const received = new Map<string, string>();
  let log: LoggedEntry[] = [];
  let level: number | undefined;
  let seq = 0;
  let made = 0;
  let isOpen = true;

  const guard = (): void => {
    if (!isOpen) throw storeError("store_closed", "The conversation store is closed.");
  };
  const append = (
    entry: Pick<LoggedEntry, "owner" | "conversationId" | "at" | "body">,
    { rows = [], level: told }: { readonly rows?: readonly EnergyRow[]; readonly level?: number | undefined } = {},
  ): LoggedEntry => {
    seq += 1;
    const logged = { ...entry, seq, energy: [...rows], ...(told === undefined ? {} : { level: told }) };
    log.push(structuredClone(logged));
    return structuredClone(logged);
  };
  const keepPool = (at: string, { owner, level: now, rows }: PoolChange): void => {
    level = now;
    if (rows.length > 0) append({ owner, conversationId: "", at, body: { kind: "energy" } }, { rows, level: now });
  };

  return {
    receive: async ({ owner, conversationId, messageId, content, at, decide }): Promise<Receipt> => {
      guard();
      const key = JSON.stringify([owner, messageId]);
      const before = kept.get(received.get(key) ?? "");
      if (before !== undefined) return { record: structuredClone(before.record), messageId, isNew: false };
      const known = kept.get(conversationId);
      if (known !== undefined && known.record.owner !== owner) throw noConversation(conversationId);
      const record = decide(known === undefined ? undefined : structuredClone(known.record), seq + 1);
      const body = { kind: "message", id: messageId, content } as const;
      const entry = append({ owner, conversationId, at, body });
      received.set(key, conversationId);
      if (known === undefined)
        kept.set(conversationId, { record: structuredClone(record), entries: [entry], n: (made += 1) });
      else {
        known.record = structuredClone(record);
        known.entries.push(entry);
      }
      return { record, messageId, isNew: true };
    },
    change: async (id, decide) => {
      guard();
      const known = kept.get(id);
      if (known === undefined) return undefined;
      const change = decide(structuredClone(known.record));
      const { record, at, pool } = change;
      known.record = structuredClone(record);
      const { owner } = record;
      for (const { body, rows } of entriesOf(change))
        known.entries.push(append({ owner, conversationId: id, at, body }, { rows, level: pool?.level }));
      if (pool !== undefined) keepPool(at, pool);
      return structuredClone(known.record);
    },
    keepPool: async (at, pool) => {
      guard();
      keepPool(at, pool);
    },
    readLevel: async () => {
      guard();
      return level;
    },
    read: async (id) => {
      guard();
      return structuredClone(kept.get(id)?.record);
    },
    list: async ({ owner, cursor, limit: asked }) => {
      guard();
      const limit = pageLimit(asked);
      const before = sessionCursor(cursor) ?? Number.POSITIVE_INFINITY;
      const rows = [...kept.values()].filter(({ record, n }) => record.owner === owner && n < before).reverse();
      const page = pageOf(rows.slice(0, limit + 1), limit, ({ n }) => String(n));
      return { ...page, items: page.items.map(({ record }) => structuredClone(record)) };
    },
    wanting: async (limit) => {
      guard();
      return [...kept.values()]
        .map(({ record }) => record)
        .filter(wantsSomething)
        .slice(0, limit)
        .map((record) => structuredClone(record));
    },
    open: async ({ since, limit: asked }) => {
      guard();
      return [...kept.values()]
        .filter(({ record }) => record.ended === undefined && record.updatedAt >= since)
        .sort((a, b) =>
          a.record.updatedAt === b.record.updatedAt ? b.n - a.n : a.record.updatedAt < b.record.updatedAt ? 1 : -1,
        )
        .slice(0, pageLimit(asked))
        .map(({ record }) => structuredClone(record));
    },
    entries: async ({ id, before = Number.POSITIVE_INFINITY, limit: asked }) => {
      guard();
      const limit = pageLimit(asked);
      const found = (kept.get(id)?.entries ?? []).filter(({ seq: at }) => at < before).slice(-limit);
      return found.reverse().map(({ seq: number, at, body }) => ({ seq: number, at, body: structuredClone(body) }));
    },
    log: async ({ afterSeq, limit }) => {
      guard();
      return structuredClone(log.filter(({ seq: at }) => at > afterSeq).slice(0, pageLimit(limit)));
    },
    // Conversations keep entries of their own; what is left here was only still to be told.
    forgetPool: async (upToSeq) => {
      guard();
      log = log.filter(({ seq: at }) => at > upToSeq);
    },
    close: async () => {
      isOpen = false;
    },
  };
}

export function wantsSomething({ pending, work, snooze, ended }: ConversationRecord): boolean {
  return ended === undefined && (pending !== undefined || work !== undefined || snooze !== undefined);
}

/** What is spent is always told by some entry: the last one, or one of its own. */
export function entriesOf({
  entries,
  spent = [],
}: Change): readonly { readonly body: EntryBody; readonly rows: readonly EnergyRow[] }[] {
  const bodies: readonly EntryBody[] = spent.length > 0 && entries.length === 0 ? [{ kind: "energy" }] : entries;
  return bodies.map((body, n) => ({ body, rows: n === bodies.length - 1 ? spent : [] }));
}
