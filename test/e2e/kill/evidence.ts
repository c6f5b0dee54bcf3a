import type { StoredEvent } from "@ergon/core";
import type { JournalRow, StateStore } from "@ergon/core/store-kit";
import type { SessionView } from "@ergon/core/engine";

/** What a session came to, without what differs between two runs of one script. */
export type Story = { readonly context: SessionView["context"]; readonly calls: readonly unknown[] };

export function storyOf({ context, history }: SessionView): Story {
  const calls = history
    // A call that a person sent again stands there twice, the first time as unknown.
    .filter(({ result }) => !("error" in result && result.error.code === "outcome_unknown"))
    .map(({ planStepId = "", toolId, request, result }) => ({ planStepId, toolId, request, result }));
  return { context, calls };
}

export async function readWholeJournal(store: StateStore, sessionId: string): Promise<readonly JournalRow[]> {
  return await store.readJournal({ sessionId, order: "oldest", limit: PAGE });
}

export async function readAllEvents(store: StateStore): Promise<readonly StoredEvent[]> {
  const all: StoredEvent[] = [];
  for (let afterSeq = 0; ;) {
    const page = await store.readEvents({ afterSeq, limit: PAGE });
    all.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return all;
    afterSeq = last.seq;
  }
}

const PAGE = 1_000;
