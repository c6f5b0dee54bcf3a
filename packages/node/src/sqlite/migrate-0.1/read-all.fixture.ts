import type {
  StateStore,
  ApprovalStore,
  ConversationStore,
  LoopStore,
  ConversationMemory,
} from "@ergon/core/store-kit";

/** Everything that a data folder has, as its stores tell it. */
export type Stores = {
  readonly state: StateStore;
  readonly approvals: ApprovalStore;
  readonly conversations: ConversationStore;
  readonly loops: LoopStore;
  readonly memory: ConversationMemory;
  readonly log: { readonly stats: () => Promise<unknown> };
  readonly requests: { readonly load: () => Promise<unknown> };
};

export async function readAll(stores: Stores): Promise<unknown> {
  const { state, approvals, conversations, loops, memory, log, requests } = stores;
  const sessions = (await state.listSessions({ order: "oldest", limit: 1_000 })).items;
  const ofSessions = [];
  for (const { core, planHash } of sessions) {
    const { sessionId } = core;
    ofSessions.push({
      journal: await state.readJournal({ sessionId, order: "oldest", limit: 1_000 }),
      context: (await state.readScopes({ sessionId, scopePrefix: "", limit: 1_000 })).items,
      events: await state.readEvents({ sessionId, afterSeq: 0, limit: 1_000 }),
      energy: await state.readEnergy({ sessionId }),
      plan: planHash === undefined ? null : await state.readPlan(planHash),
    });
  }
  const talks = (await conversations.list({ owner: "ada", limit: 100 })).items;
  return {
    sessions,
    ofSessions,
    events: await state.readEvents({ afterSeq: 0, limit: 1_000 }),
    lastSeq: await state.lastEventSeq(),
    energy: [await state.readEnergy({}), await state.readEnergy({ owner: "ada" })],
    blob: await state.readBlobRow("b".repeat(64), "ada"),
    cursor: await state.readCursor("c"),
    approvals: (await approvals.list({ limit: 100 })).items,
    grants: (await approvals.listGrants({ limit: 100 })).items,
    talks,
    entries: await Promise.all(talks.map(({ id }) => conversations.entries({ id, limit: 100 }))),
    told: await conversations.log({ afterSeq: 0, limit: 100 }),
    level: await conversations.readLevel(),
    loops: await Promise.all((await loops.list("ada")).map(({ id }) => loops.read({ owner: "ada", id }))),
    memory: await memory.load({
      owner: "ada",
      sessionId: "s",
      recentLimit: 100,
      matchLimit: 3,
      minSimilarity: 0,
      embedding: { model: "m", dimension: 2, vector: [0.6, 0.8] },
    }),
    stats: await log.stats(),
    requests: await requests.load(),
  };
}
