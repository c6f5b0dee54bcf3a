import { wantsSomething } from "../../memory/conversation-store.ts";
import type { Clock } from "../../ports/clock.ts";
import { type ConversationRecord, MAX_SNOOZE_MINUTES } from "../../schema/conversation.ts";
import type { OpenWait } from "../../schema/session.ts";
import { type Candidate, pickNext } from "./pick.ts";

/** A conversation that wants something, with what only this process knows of it. */
export type Live = {
  record: ConversationRecord;
  /** A step is under way. */
  active?: AbortController | undefined;
  /** Its work waits for a person. */
  waiting?: readonly OpenWait[] | undefined;
  /** Its work may have gone on since the step began. */
  isFreed: boolean;
  /** When what it was put off for is over, by the monotonic clock. */
  snoozedUntil?: { readonly until: string; readonly atMs: number } | undefined;
  /** After trouble it is left alone until then. */
  notBeforeMs: number;
  troubles: number;
  passedOver: number;
};

export type LiveConversations = {
  readonly get: (id: string) => Live | undefined;
  readonly all: () => Iterable<Live>;
  readonly size: () => number;
  readonly working: () => number;
  /** Nothing is owed to anybody, save what waits for a person. */
  readonly isIdle: () => boolean;
  /** Takes a record as it is now; forgets it when it wants nothing any more. */
  readonly put: (record: ConversationRecord) => void;
  /** Of those that are ready; the others have been passed over once more. */
  readonly pick: (isReady: (live: Live) => boolean) => Live | undefined;
  readonly focus: (id: string) => void;
};

export function createLiveConversations(clock: Clock): LiveConversations {
  const live = new Map<string, Live>();
  let focused: string | undefined;
  return {
    get: (id) => live.get(id),
    all: () => live.values(),
    size: () => live.size,
    working: () => [...live.values()].filter(({ active }) => active !== undefined).length,
    isIdle: () =>
      [...live.values()].every(
        ({ record: { pending, work }, active, waiting }) =>
          active === undefined && (waiting !== undefined || (pending === undefined && work === undefined)),
      ),
    put: (record) => {
      const known = live.get(record.id);
      if (known !== undefined) known.record = record;
      if (known !== undefined) known.snoozedUntil = snoozedUntil(record, known.snoozedUntil);
      if (!wantsSomething(record) && known?.active === undefined) live.delete(record.id);
      else if (known === undefined && wantsSomething(record))
        live.set(record.id, {
          record,
          snoozedUntil: snoozedUntil(record, undefined),
          isFreed: false,
          notBeforeMs: 0,
          troubles: 0,
          passedOver: 0,
        });
    },
    pick: (isReady) => {
      const ready: (Candidate & { readonly one: Live })[] = [];
      for (const one of live.values()) {
        const { pending, id, updatedAt } = one.record;
        if (!isReady(one)) continue;
        const { since = updatedAt, steps = 0 } = pending ?? {};
        ready.push({ id, since, steps, passedOver: one.passedOver, one });
      }
      const picked = pickNext(ready, focused);
      if (picked === undefined) return undefined;
      for (const { one } of ready) one.passedOver += 1;
      picked.one.passedOver = 0;
      if (picked.id === focused) focused = undefined;
      return picked.one;
    },
    focus: (id) => {
      focused = id;
    },
  };

  /** Setting the clock neither shortens nor lengthens what this process has known; nothing is put off for longer than was said. */
  function snoozedUntil({ snooze }: ConversationRecord, known: Live["snoozedUntil"]): Live["snoozedUntil"] {
    if (snooze === undefined) return undefined;
    if (known?.until === snooze.until) return known;
    const { until, minutes = MAX_SNOOZE_MINUTES } = snooze;
    const leftMs = Math.min(Math.max(0, Date.parse(until) - clock.now()), minutes * MINUTE_MS);
    return { until, atMs: clock.monotonic() + leftMs };
  }
}

const MINUTE_MS = 60_000;
