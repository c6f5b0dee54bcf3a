import type { BlobRow, ContextWrite, JournalFinish, JournalStart, JournalWrite } from "../../../ports/state-store.ts";
import type { EnergyRow } from "../../../schema/energy.ts";
import type { EventType, NewEvent } from "../../../schema/event.ts";
import type { JsonObject } from "../../../schema/values/json.ts";
import { redactJson } from "../../../schema/values/redact.ts";
import type { Effect, RunEnd } from "../../transition.ts";

/** After so many transitions without a call, what has happened is committed and others get their turn. */
export const MAX_TRANSITIONS_PER_COMMIT = 1_000;

/** So many requests and results in the journal end a commit: together they are far below what one may hold. */
export const MAX_JOURNAL_VALUES_PER_COMMIT = 128;

/** One commit in the making, and what may begin once it is written. */
export type CommitBuilder = {
  /** When the newest of it happened. */
  at: string;
  readonly context: ContextWrite[];
  /** Scopes whose branches have joined. */
  readonly dropScopes: string[];
  readonly journal: JournalWrite[];
  /** Where in `journal` the calls are that began with this commit, by position. */
  readonly begun: Map<string, number>;
  /** How many requests and results `journal` holds. */
  journalValues: number;
  readonly energy: EnergyRow[];
  readonly blobs: BlobRow[];
  readonly events: NewEvent[];
  launches: Effect[];
  /** Whoever waits is told once the commit is written, and on the disk if that is waited for. */
  readonly acknowledge: ((onDisk: Promise<void> | undefined) => void)[];
  changed: boolean;
  /** The store has it: what happens now belongs to the next. */
  taken: boolean;
  transitions: number;
  /** How often what had arrived was taken in and the run went on without waiting. */
  steps: number;
  /** What follows begins only when the commit is on the disk. */
  durable: boolean;
  end: RunEnd | { readonly status: "cancelled" } | undefined;
};

export function newCommitBuilder(): CommitBuilder {
  return {
    at: "",
    context: [],
    dropScopes: [],
    journal: [],
    begun: new Map(),
    journalValues: 0,
    energy: [],
    blobs: [],
    events: [],
    launches: [],
    acknowledge: [],
    changed: false,
    taken: false,
    transitions: 0,
    steps: 0,
    durable: false,
    end: undefined,
  };
}

export function isFull({ transitions }: CommitBuilder): boolean {
  return transitions >= MAX_TRANSITIONS_PER_COMMIT;
}

export function isLarge({ journalValues }: CommitBuilder): boolean {
  return journalValues >= MAX_JOURNAL_VALUES_PER_COMMIT;
}

/** Two for every step, made of ids and numbers alone but for a failure. */
const BARE: ReadonlySet<EventType> = new Set(["step-started", "step-finished"]);

/** What is told is seen by more people than what is stored: without credentials. */
export function note(builder: CommitBuilder, type: EventType, data: JsonObject): void {
  const isBare = BARE.has(type) && data["failure"] === undefined;
  builder.events.push({ type, at: builder.at, data: isBare ? data : redactJson(data) });
}

export function beginRow(builder: CommitBuilder, row: JournalStart): void {
  builder.begun.set(row.position, builder.journal.length);
  builder.journal.push(row);
  builder.journalValues++;
}

/** A call that began with the same commit is one row of it. */
export function endRow(builder: CommitBuilder, row: JournalFinish): void {
  builder.journalValues++;
  const index = builder.begun.get(row.position);
  const start = index === undefined ? undefined : builder.journal[index];
  if (index === undefined || start?.kind !== "start") {
    builder.journal.push(row);
    return;
  }
  const { state, result, at: finishedAt, energyUnits } = row;
  builder.journal[index] = { ...start, kind: "whole", state, result, finishedAt, energyUnits };
}
