import { expect } from "vitest";
import type {
  Commit,
  ContextWrite,
  JournalFinish,
  JournalStart,
  JournalWhole,
  StateStore,
} from "../../src/ports/state-store.ts";
import type { NewEvent } from "../../src/schema/event.ts";
import type { Json } from "../../src/schema/values/json.ts";
import type { AgenticPlan } from "../../src/schema/plan.ts";
import type { SessionCore, SessionStatus } from "../../src/schema/session.ts";

export const AT = "2026-01-02T03:04:05.000Z";
export const OWNER = "ada";

export function core(sessionId: string, status: SessionStatus = "running"): SessionCore {
  return { sessionId, status, createdAt: AT, updatedAt: AT, waiting: [], run: 1, energySpent: 0 };
}

/** A commit that creates a session. */
export function creation(sessionId: string, more: Partial<Commit> = {}): Commit {
  return { sessionId, owner: OWNER, expectVersion: 0, session: { core: core(sessionId), cursor: null }, ...more };
}

/** A commit that writes the session again. */
export function update(sessionId: string, expectVersion: number, more: Partial<Commit> = {}): Commit {
  return {
    sessionId,
    owner: OWNER,
    expectVersion,
    session: { core: core(sessionId), cursor: [expectVersion] },
    ...more,
  };
}

export function start(position: string, more: Partial<JournalStart> = {}): JournalStart {
  return {
    kind: "start",
    position,
    scope: "",
    toolId: "demo::greet",
    effects: "once",
    key: `key-${position}`,
    argsHash: "00",
    request: { who: position },
    at: AT,
    ...more,
  };
}

export function finish(position: string, more: Partial<JournalFinish> = {}): JournalFinish {
  return {
    kind: "finish",
    position,
    state: "finished",
    result: { output: `out ${position}` },
    at: AT,
    energyUnits: 1,
    ...more,
  };
}

export function whole(position: string, more: Partial<JournalWhole> = {}): JournalWhole {
  const { kind: _start, ...begun } = start(position);
  const { kind: _finish, at: _at, ...ended } = finish(position);
  return { ...begun, ...ended, kind: "whole", finishedAt: AT, ...more };
}

export function event(data: { readonly [key: string]: Json } = {}): NewEvent {
  return { type: "step-finished", at: AT, data };
}

export function inline(scope: string, key: string, value: Json): ContextWrite {
  return { scope, key, value: { kind: "inline", value } };
}

export const PLAN: AgenticPlan = {
  planId: "greet",
  description: "Says hello.",
  parameters: { type: "object" },
  startStepId: "done",
  steps: [{ id: "done", type: "final_response", message: "hello" }],
};

/** Everything a session has, so that two moments can be compared whole. */
export async function everything(store: StateStore, sessionId: string): Promise<unknown> {
  return {
    session: await store.readSession(sessionId),
    context: (await store.readScopes({ sessionId, scopePrefix: "", limit: 1_000 })).items,
    journal: await store.readJournal({ sessionId, order: "oldest", limit: 1_000 }),
    events: await store.readEvents({ afterSeq: 0, sessionId, limit: 1_000 }),
    energy: await store.readEnergy({ sessionId }),
  };
}

export async function expectRefused(promise: Promise<unknown>, code: string, retryable = false): Promise<void> {
  await expect(promise).rejects.toMatchObject({ name: "ErgonError", code, retryable });
}
