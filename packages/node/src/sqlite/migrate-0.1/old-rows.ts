/*
 * Rows as Ergon 0.1 wrote them: arrays without what their neighbours say (version 2), and the objects of version 1.
 */
import type { EnergyRow } from "@ergon/core/schema";
import type { CommitRows, EventText, JournalEndText, JournalStartText } from "@ergon/core/store-kit";

type Value = unknown;

/** A call of the session itself has this key unless it was amended. */
const usualKey = (sessionId: string, position: string): string => `${sessionId}:${position}`;

type OldStart =
  | readonly [
      toolId: string,
      effects: string,
      argsHash: string,
      request: Value,
      at: string,
      scope?: string,
      key?: string,
    ]
  | (Omit<JournalStartText, "request" | "stepId"> & { readonly request: Value });

export function readStart(
  {
    sessionId,
    position,
    stepId,
  }: { readonly sessionId: string; readonly position: string; readonly stepId: string | null },
  start: OldStart,
): JournalStartText {
  if ("toolId" in start) {
    const { scope, toolId, effects, key, argsHash, request, startedAt } = start;
    return { scope, stepId, toolId, effects, key, argsHash, request: JSON.stringify(request), startedAt };
  }
  const [toolId, effects, argsHash, request, startedAt, scope = "", key = usualKey(sessionId, position)] = start;
  const known = effects as JournalStartText["effects"];
  return { scope, stepId, toolId, effects: known, key, argsHash, request: JSON.stringify(request), startedAt };
}

type OldEnd =
  | readonly [state: string, result: Value, energyUnits: number, finishedAt?: string]
  | (Omit<JournalEndText, "result"> & { readonly result: Value });

/** Without a time of its own it ended when it started. */
export function readEnd(end: OldEnd, startedAt: string): JournalEndText {
  if ("state" in end) return { ...end, result: JSON.stringify(end.result) };
  const [state, result, energyUnits, finishedAt = startedAt] = end;
  return { state: state as JournalEndText["state"], result: JSON.stringify(result), energyUnits, finishedAt };
}

/** A text is the time of the events after it; "s" and "f" are the usual events of a call. */
export type OldEvent = string | { readonly type: string; readonly at: string; readonly data: Value } | readonly Value[];

export function readOldEvents(written: readonly OldEvent[]): EventText[] {
  const events: EventText[] = [];
  let at = "";
  const add = (type: string, data: Value): void =>
    void events.push({ type: type as EventText["type"], at, data: JSON.stringify(data) });
  for (const event of written) {
    if (typeof event === "string") at = event;
    else if ("type" in event) {
      ({ at } = event);
      add(event.type, event.data);
    } else {
      const [type, a, toolId, position, units] = event;
      if (type === "s") add("step-started", { stepId: a, toolId, position, attempt: 1 });
      else if (type === "f") {
        add("energy-spent", { cause: "tool", toolId, units });
        add("step-finished", { stepId: a, toolId, position, energyUnits: units });
      } else add(String(type), a);
    }
  }
  return events;
}

/** A text is the position of a call whose journal row says everything. */
export type OldEnergy = string | EnergyRow;
export type SpentCall = { readonly toolId: string; readonly units: number; readonly at: string };

export function readOldEnergy(
  entries: readonly OldEnergy[],
  sessionId: string,
  callAt: (position: string) => SpentCall,
): EnergyRow[] {
  return entries.map((entry) => {
    if (typeof entry !== "string") return entry;
    const { at, units, toolId } = callAt(entry);
    return { at, cause: "tool", units, toolId, reference: usualKey(sessionId, entry) };
  });
}

/** One commit in a record of the log or in the tail. */
export type OldCommit = {
  readonly sessionId: string;
  readonly owner: string;
  readonly core?: { readonly status: NonNullable<CommitRows["session"]>["status"] };
  readonly frames?: Value;
  readonly planHash?: string;
  readonly input?: Value;
  readonly plan?: { readonly hash: string; readonly plan: Value };
  readonly dropScopes?: readonly string[];
  readonly context?: readonly (readonly [string, string, boolean, string | null, Value])[];
  readonly journal?: readonly OldEntry[];
  readonly energy?: { readonly entries: readonly OldEnergy[] } | readonly OldEnergy[];
  readonly blobs?: CommitRows["blobs"];
  readonly events?: readonly OldEvent[];
  readonly cursor?: CommitRows["cursor"];
};
/** With the step's id, where there is one; version 1 had it inside the start. */
type OldEntry =
  | readonly [position: string, stepId: string, start: OldStart | null, end: OldEnd | null]
  | readonly [position: string, start: (OldStart & { readonly stepId?: string }) | null, end: OldEnd | null];

/** `startedAt` gives the start of a call that an earlier commit began. */
export function readOldCommit(
  written: OldCommit,
  parts: { readonly startedAt: (position: string) => string; readonly callAt: (position: string) => SpentCall },
): CommitRows {
  const { sessionId, owner, core, plan, energy = [] } = written;
  const journal = (written.journal ?? []).map((entry) => {
    const [position, stepId, begun, ended] =
      entry.length === 4 ? entry : ([entry[0], entry[1]?.stepId ?? null, entry[1], entry[2]] as const);
    const start = begun === null ? undefined : readStart({ sessionId, position, stepId }, begun);
    const end = ended === null ? undefined : readEnd(ended, start?.startedAt ?? parts.startedAt(position));
    return { position, start, end };
  });
  const callAt = (position: string): SpentCall => {
    const { start, end } = journal.findLast((entry) => entry.position === position) ?? {};
    if (start === undefined || end === undefined) {
      const call = parts.callAt(position);
      return end === undefined ? call : { ...call, units: end.energyUnits, at: end.finishedAt };
    }
    return { toolId: start.toolId, units: end.energyUnits, at: end.finishedAt };
  };
  return {
    sessionId,
    owner,
    expectVersion: undefined,
    durable: false,
    session:
      core === undefined
        ? undefined
        : {
            status: core.status,
            core: JSON.stringify(core),
            cursor: JSON.stringify(written.frames),
            planHash: written.planHash ?? null,
            input: written.input === undefined ? null : JSON.stringify(written.input),
          },
    plan: plan === undefined ? undefined : { hash: plan.hash, plan: JSON.stringify(plan.plan) },
    run: undefined,
    expireRuns: undefined,
    dropScopes: written.dropScopes ?? [],
    context: (written.context ?? []).map(([scope, key, implicit, position, value]) => ({
      scope,
      key,
      implicit,
      position,
      value: position === null ? JSON.stringify(value) : null,
    })),
    journal,
    energy: readOldEnergy(isList(energy) ? energy : energy.entries, sessionId, callAt),
    blobs: written.blobs ?? [],
    events: readOldEvents(written.events ?? []),
    cursor: written.cursor,
    chars: 0,
  };
}

function isList(energy: NonNullable<OldCommit["energy"]>): energy is readonly OldEnergy[] {
  return Array.isArray(energy);
}
