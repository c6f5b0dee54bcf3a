/*
 * Rows as the text that stores keep of them. A step leaves half a dozen rows, and what they cost is their length: so they
 * are arrays, and what is told by their neighbours is left out of them. Readers also understand the objects of version 1.
 */
import type { JournalFinish, JournalRow, JournalStart, JournalWhole, JournalWrite } from "../ports/state-store.ts";
import type { EnergyRow } from "../schema/energy.ts";
import type { NewEvent } from "../schema/event.ts";
import type { Json, JsonObject } from "../schema/json.ts";

/** The last two only where they are not the usual: the root scope, and the key of a call that was never amended. */
type Intent =
  | readonly [toolId: string, effects: string, argsHash: string, request: Json, startedAt: string]
  | readonly [toolId: string, effects: string, argsHash: string, request: Json, at: string, scope: string, key: string];

/** The time only when it is another than that of the start. */
type Outcome =
  | readonly [state: string, result: Json, energyUnits: number]
  | readonly [state: string, result: Json, energyUnits: number, finishedAt: string];

/**
 * A text is the time of what follows it. The usual events of a call have a short form; the one of its end stands for two,
 * what it cost and that it ended.
 */
type Event =
  | string
  | readonly [type: string, data: JsonObject]
  | readonly [type: typeof STARTED, stepId: string, toolId: string, position: string]
  | readonly [type: typeof ENDED, stepId: string, toolId: string, position: string, energyUnits: number];
const STARTED = "s";
const ENDED = "f";

/** A text is the position of a call, whose journal row says everything. */
type Energy = string | EnergyRow;

export type JournalPlace = { readonly sessionId: string; readonly ord: string; readonly stepId: string | null };

export function intentOf(sessionId: string, row: JournalStart | JournalWhole): Intent {
  const { ord, scope, toolId, effects, key, argsHash, request, at } = row;
  if (scope === "" && key === usualKey(sessionId, ord)) return [toolId, effects, argsHash, request, at];
  return [toolId, effects, argsHash, request, at, scope, key];
}

export function outcomeOf(row: JournalFinish | JournalWhole): Outcome {
  const { state, result, energyUnits } = row;
  const known = [state, result as Json, energyUnits] as const;
  if (row.kind === "finish") return [...known, row.at];
  return row.finishedAt === row.at ? known : [...known, row.finishedAt];
}

export function journalRow(place: JournalPlace, intent: string, outcome: string | null | undefined): JournalRow {
  const begun = readIntent(place, JSON.parse(intent) as Intent | OldIntent);
  if (outcome === null || outcome === undefined) return { ...begun, state: "started", energyUnits: 0 };
  return { ...begun, ...readOutcome(JSON.parse(outcome) as Outcome | OldOutcome, begun.startedAt) };
}

type OldIntent = Omit<JournalRow, "ord" | "state" | "energyUnits">;
type OldOutcome = Pick<JournalRow, "state" | "result" | "finishedAt" | "energyUnits">;

function readIntent({ sessionId, ord, stepId }: JournalPlace, intent: Intent | OldIntent): OldIntent & { ord: string } {
  if ("toolId" in intent) return { ord, ...intent };
  const [toolId, effects, argsHash, request, startedAt, scope = "", key = usualKey(sessionId, ord)] = intent;
  const step = stepId === null ? {} : { stepId };
  return { ord, scope, ...step, toolId, effects: effects as JournalRow["effects"], key, argsHash, request, startedAt };
}

function readOutcome(outcome: Outcome | OldOutcome, startedAt: string): OldOutcome {
  if ("state" in outcome) return outcome;
  const [state, result, energyUnits, finishedAt = startedAt] = outcome;
  return { state, result, finishedAt, energyUnits } as OldOutcome;
}

export function eventsOf(events: readonly NewEvent[]): Event[] {
  const written: Event[] = [];
  let before = "";
  for (let index = 0; index < events.length; index += 1) {
    const event = events[index];
    if (event === undefined) break;
    if (event.at !== before) {
      before = event.at;
      written.push(before);
    }
    const next = events[index + 1];
    const usual = next === undefined ? undefined : endOf(event, next);
    if (usual !== undefined) index += 1;
    written.push(usual ?? startOf(event) ?? [event.type, event.data]);
  }
  return written;
}

function startOf({ type, data }: NewEvent): Event | undefined {
  if (type !== "step-started") return undefined;
  const { stepId, toolId, position, attempt, ...rest } = data as Partial<CallData> & JsonObject;
  if (stepId === undefined || toolId === undefined || position === undefined || attempt !== 1 || !isEmpty(rest))
    return undefined;
  return [STARTED, stepId, toolId, position];
}

function endOf(cost: NewEvent, end: NewEvent): Event | undefined {
  if (cost.type !== "energy-spent" || end.type !== "step-finished" || cost.at !== end.at) return undefined;
  const { cause, toolId: spentBy, units, ...more } = cost.data as Partial<SpentData> & JsonObject;
  const { stepId, toolId, position, energyUnits, ...rest } = end.data as Partial<CallData> & JsonObject;
  if (stepId === undefined || toolId === undefined || position === undefined || energyUnits === undefined)
    return undefined;
  if (cause !== "tool" || spentBy !== toolId || units !== energyUnits || !isEmpty(more) || !isEmpty(rest))
    return undefined;
  return [ENDED, stepId, toolId, position, energyUnits];
}

type CallData = {
  readonly stepId: string;
  readonly toolId: string;
  readonly position: string;
  readonly attempt: number;
  readonly energyUnits: number;
};
type SpentData = { readonly cause: string; readonly toolId: string; readonly units: number };

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

export function readEvents(written: unknown): NewEvent[] {
  const events: NewEvent[] = [];
  let at = "";
  for (const event of written as readonly (Event | NewEvent)[]) {
    if (typeof event === "string") at = event;
    else if ("type" in event) events.push(event);
    else events.push(...usualEvents(event, at));
  }
  return events;
}

function usualEvents(event: Exclude<Event, string>, at: string): readonly NewEvent[] {
  switch (event[0]) {
    case STARTED: {
      const [, stepId, toolId, position] = event as Extract<Event, readonly [typeof STARTED, ...unknown[]]>;
      return [{ type: "step-started", at, data: { stepId, toolId, position, attempt: 1 } }];
    }
    case ENDED: {
      const [, stepId, toolId, position, units] = event as Extract<Event, readonly [typeof ENDED, ...unknown[]]>;
      return [
        { type: "energy-spent", at, data: { cause: "tool", toolId, units } },
        { type: "step-finished", at, data: { stepId, toolId, position, energyUnits: units } },
      ];
    }
    default: {
      const [type, data] = event as readonly [NewEvent["type"], JsonObject];
      return [{ type, at, data }];
    }
  }
}

/** What a call of the session itself cost stands in the call's journal row as well; both come in the same order. */
export function energyOf(sessionId: string, rows: readonly EnergyRow[], journal: readonly JournalWrite[]): Energy[] {
  let at = 0;
  return rows.map((row) => {
    if (row.cause !== "tool" || row.reference === undefined) return row;
    for (let index = at; index < journal.length; index += 1) {
      const call = journal[index];
      if (call === undefined || call.kind === "start" || usualKey(sessionId, call.ord) !== row.reference) continue;
      if (call.energyUnits !== row.units) return row;
      at = index + 1;
      return call.ord;
    }
    return row;
  });
}

function usualKey(sessionId: string, ord: string): string {
  return `${sessionId}:${ord}`;
}
