import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JournalFinish, JournalRow, JournalStart, JournalWhole, JournalWrite } from "../ports/state-store.ts";
import type { EnergyRow } from "../schema/energy.ts";
import type { NewEvent } from "../schema/event.ts";
import type { Json } from "../schema/json.ts";
import { energyOf, eventsOf, intentOf, journalRow, outcomeOf, readEvents } from "./row-text.ts";

const AT = "2026-01-02T03:04:05.000Z";
const LATER = "2026-01-02T03:04:06.000Z";

/** Few values, so that neighbours often have the same; "" is a time like any other. */
const time = fc.constantFrom(AT, LATER, "");
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json);
const name = fc.oneof(fc.constantFrom("", "s", "s:1", "0", ":"), fc.string());

describe("a journal row as text", () => {
  it("is read as it was written, as a start, with its finish, or whole", () => {
    fc.assert(
      fc.property(name, begun, ended, fc.boolean(), (sessionId, start, end, isUsual) => {
        const row = isUsual ? { ...start, scope: "", key: `${sessionId}:${start.ord}` } : start;
        const place = { sessionId, ord: row.ord, stepId: row.stepId ?? null };
        const { kind: _start, at, ...shared } = row;
        const started: JournalRow = { ...shared, startedAt: at, state: "started", energyUnits: 0 };
        expect(journalRow(place, text(intentOf(sessionId, row)), null)).toEqual(started);
        expect(journalRow(place, text(intentOf(sessionId, row)), undefined)).toEqual(started);

        const { state, result, energyUnits } = end;
        const finished = { ...started, state, result, energyUnits, finishedAt: end.at };
        const finish: JournalFinish = { ...end, kind: "finish", ord: row.ord };
        expect(journalRow(place, text(intentOf(sessionId, row)), text(outcomeOf(finish)))).toEqual(finished);

        const whole: JournalWhole = { ...row, ...end, at, kind: "whole", finishedAt: end.at };
        expect(journalRow(place, text(intentOf(sessionId, whole)), text(outcomeOf(whole)))).toEqual(finished);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is read the same from the objects of version 1", () => {
    fc.assert(
      fc.property(name, begun, ended, (sessionId, row, end) => {
        const { kind: _start, ord, at, ...shared } = row;
        const { state, result, energyUnits } = end;
        const intent = text({ ...shared, startedAt: at });
        const outcome = text({ state, result, finishedAt: end.at, energyUnits });
        const place = { sessionId, ord, stepId: row.stepId ?? null };
        const today = text(intentOf(sessionId, row));
        const finish: JournalFinish = { ...end, kind: "finish", ord };
        expect(journalRow(place, intent, null)).toEqual(journalRow(place, today, null));
        expect(journalRow(place, intent, outcome)).toEqual(journalRow(place, today, text(outcomeOf(finish))));
        // A call that began before the update and ended after it.
        expect(journalRow(place, intent, text(outcomeOf(finish)))).toEqual(journalRow(place, intent, outcome));
      }),
      { numRuns: 500 },
    );
  });

  it("leaves out the root scope and the usual key, when both are usual", () => {
    const usual = start({ scope: "", key: "s:1" });
    expect(intentOf("s", usual)).toEqual(["t", "once", "h", { n: 1 }, AT]);
    expect(intentOf("s", { ...usual, key: "s:1:amended" })).toEqual([
      "t",
      "once",
      "h",
      { n: 1 },
      AT,
      "",
      "s:1:amended",
    ]);
    expect(intentOf("s", { ...usual, scope: "turn" })).toEqual(["t", "once", "h", { n: 1 }, AT, "turn", "s:1"]);
    // The usual key of another session, or of another position.
    for (const [sessionId, ord] of [["other", "1"] as const, ["s", "2"] as const])
      expect(intentOf(sessionId, { ...usual, ord })).toHaveLength(7);
  });

  it("leaves out the time of the end only when it is that of the start", () => {
    const end = { state: "finished", result: { output: 1 }, energyUnits: 2 } as const;
    const whole: JournalWhole = { ...start({}), ...end, kind: "whole", finishedAt: AT };
    expect(outcomeOf(whole)).toEqual(["finished", { output: 1 }, 2]);
    expect(outcomeOf({ ...whole, finishedAt: LATER })).toEqual(["finished", { output: 1 }, 2, LATER]);
    // A finish does not know when its call began.
    expect(outcomeOf({ ...end, kind: "finish", ord: "1", at: AT })).toEqual(["finished", { output: 1 }, 2, AT]);
  });
});

describe("events as text", () => {
  it("are read as they were written", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), (events) => {
        expect(readEvents(JSON.parse(text(eventsOf(events))))).toStrictEqual(events);
      }),
      { numRuns: 1_000 },
    );
  });

  it("are read as they were written when they are those of calls, or nearly", () => {
    const seen = { usual: 0, nearly: 0 };
    fc.assert(
      fc.property(fc.array(nearlyUsual, { maxLength: 6 }), (pieces) => {
        const events = pieces.flat();
        const written = eventsOf(events);
        expect(readEvents(JSON.parse(text(written)))).toStrictEqual(events);
        const short = shortOf(written);
        seen.usual += short.length;
        seen.nearly += events.length - short.reduce((sum, { length }) => sum + (length === 5 ? 2 : 1), 0);
      }),
      { numRuns: 3_000 },
    );
    // Both must be many, or it shows nothing.
    expect(seen.usual).toBeGreaterThan(500);
    expect(seen.nearly).toBeGreaterThan(500);
  });

  it("are read the same from the objects of version 1", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            event.map((one) => [one]),
            nearlyUsual,
          ),
          { maxLength: 8 },
        ),
        (pieces) => {
          expect(readEvents(JSON.parse(text(pieces.flat())))).toStrictEqual(pieces.flat());
        },
      ),
    );
  });

  it("have a time before them only where it is another than that of the one before", () => {
    const types = ["step-started", "step-finished", "step-finished", "step-finished"] as const;
    const times = [AT, AT, LATER, AT];
    const events = types.map((type, n) => ({ type, at: times[n] ?? "", data: { n } }));
    expect(eventsOf(events)).toEqual([
      AT,
      ["step-started", { n: 0 }],
      ["step-finished", { n: 1 }],
      LATER,
      ["step-finished", { n: 2 }],
      AT,
      ["step-finished", { n: 3 }],
    ]);
    expect(eventsOf([])).toEqual([]);
  });

  it("are short for the usual ones of a call, of which its cost and its end are one", () => {
    const events = [
      started(),
      cost(),
      finished(),
      started({ stepId: "b" }, LATER),
      cost({}, LATER),
      finished({}, LATER),
    ];
    expect(eventsOf(events)).toEqual([
      AT,
      ["s", "a", "t", "1"],
      ["f", "a", "t", "1", 2],
      LATER,
      ["s", "b", "t", "1"],
      ["f", "a", "t", "1", 2],
    ]);
    // In whichever order their keys came.
    const { stepId, toolId, position, energyUnits } = finished().data;
    const turned = { ...finished(), data: { energyUnits, position, toolId, stepId } as NewEvent["data"] };
    expect(eventsOf([cost(), turned])).toEqual([AT, ["f", "a", "t", "1", 2]]);
    // The empty text and nothing at all are values like any other.
    const none = [cost({ toolId: "", units: 0 }), finished({ stepId: "", toolId: "", position: "", energyUnits: 0 })];
    expect(eventsOf(none)).toEqual([AT, ["f", "", "", "", 0]]);
    expect(readEvents(eventsOf(none))).toStrictEqual(none);
  });

  it.each<readonly [string, NewEvent]>([
    ["a second attempt", started({ attempt: 2 })],
    ["an attempt before the first", started({ attempt: 0 })],
    ["an attempt that is a text", started({ attempt: "1" })],
    ["an attempt that is nothing", started({ attempt: null })],
    ["no attempt", started({}, AT, "attempt")],
    ["no step", started({}, AT, "stepId")],
    ["no tool", started({}, AT, "toolId")],
    ["no position", started({}, AT, "position")],
    ["something more", started({ more: 1 })],
    ["something more that is nothing", started({ more: null })],
    ["something more with an empty name", started({ "": "" })],
    ["something more with an odd name", started(JSON.parse('{"__proto__":1}') as NewEvent["data"])],
    ["another type", { ...started(), type: "step-progressed" }],
    ["the type of an end", { ...started(), type: "step-finished" }],
  ])("are written in full for a start with %s", (_, one) => {
    expect(eventsOf([one])).toEqual([AT, [one.type, one.data]]);
    readsBack([one]);
    // Beside usual ones, which stay short.
    const beside = [started(), one, cost(), finished(), one, started()];
    expect(shortOf(eventsOf(beside))).toHaveLength(3);
    readsBack(beside);
  });

  it.each<readonly [string, NewEvent, NewEvent]>([
    ["a cost of another tool", cost({ toolId: "u" }), finished()],
    ["a cost of no tool", cost({}, AT, "toolId"), finished()],
    ["a cost of another cause", cost({ cause: "model" }), finished()],
    ["a cost of no cause", cost({}, AT, "cause"), finished()],
    ["a cost of other units", cost({ units: 3 }), finished()],
    ["a cost whose units are a text", cost({ units: "2" }), finished()],
    ["a cost of no units", cost({}, AT, "units"), finished()],
    ["a cost with something more", cost({ more: null }), finished()],
    ["a cost with the step", cost({ stepId: "a" }), finished()],
    ["a cost at another time", cost({}, LATER), finished()],
    ["another kind of cost", { ...cost(), type: "energy-replenished" }, finished()],
    ["an end of another tool", cost(), finished({ toolId: "u" })],
    ["an end of no tool", cost(), finished({}, AT, "toolId")],
    ["neither of a tool", cost({}, AT, "toolId"), finished({}, AT, "toolId")],
    ["an end of other units", cost(), finished({ energyUnits: 3 })],
    ["an end of no units", cost(), finished({}, AT, "energyUnits")],
    ["neither of units", cost({}, AT, "units"), finished({}, AT, "energyUnits")],
    ["units that only look the same", cost({ units: [2] }), finished({ energyUnits: [2] })],
    ["an end of no step", cost(), finished({}, AT, "stepId")],
    ["an end of no position", cost(), finished({}, AT, "position")],
    ["an end with something more", cost(), finished({ reused: "other:1" })],
    ["an end with something more that is nothing", cost(), finished({ more: null })],
    ["an end with an attempt", cost(), finished({ attempt: 1 })],
    ["an end at another time", cost(), finished({}, LATER)],
    ["an end at the time of none", cost(), finished({}, "")],
    ["another kind of end", cost(), { ...finished(), type: "step-failed" }],
    ["both the other way round", finished(), cost()],
    ["two costs", cost(), cost()],
    ["two ends", finished(), finished()],
  ])("are written in full for %s", (_, one, other) => {
    expect(shortOf(eventsOf([one, other]))).toEqual([]);
    for (const single of [[one], [other]]) expect(shortOf(eventsOf(single))).toEqual([]);
    readsBack([one, other]);
    // What lies between keeps even the usual ones apart.
    readsBack([started(), one, started(), other]);
    readsBack([one, other, one, other, cost(), finished()]);
  });

  it("are one for a cost only with the end that follows at once", () => {
    expect(eventsOf([cost(), cost(), finished(), finished()])).toEqual([
      AT,
      ["energy-spent", cost().data],
      ["f", "a", "t", "1", 2],
      ["step-finished", finished().data],
    ]);
    expect(shortOf(eventsOf([cost(), started(), finished()]))).toEqual([["s", "a", "t", "1"]]);
  });

  function readsBack(events: readonly NewEvent[]): void {
    expect(readEvents(JSON.parse(text(eventsOf(events))))).toStrictEqual(JSON.parse(text(events)));
  }
});

describe("ledger rows as text", () => {
  it("have everything that the rows had, with the journal beside them", () => {
    let shortened = 0;
    fc.assert(
      fc.property(
        name,
        fc.array(calls, { maxLength: 6 }),
        fc.array(energy, { maxLength: 4 }),
        (sessionId, made, more) => {
          const journal = made.map(({ call }) => call);
          const tools = new Map(made.map(({ call, toolId }) => [call.ord, toolId]));
          const own = made.flatMap(({ call, toolId, isCharged, by }) =>
            isCharged ? [{ ...chargeOf(sessionId, call, toolId), ...by }] : [],
          );
          // Rows of models and of others stand among those of calls.
          const rows: EnergyRow[] = [...own.slice(0, 2), ...more, ...own.slice(2)];
          const written = energyOf(sessionId, rows, journal);
          expect(ledgerFrom(sessionId, JSON.parse(text(written)) as Written, journal, tools)).toStrictEqual(rows);
          const positions = written.filter((entry) => typeof entry === "string");
          // A journal row says what one of them cost, not two.
          for (const ord of positions)
            expect(positions.filter((other) => other === ord).length).toBeLessThanOrEqual(endsOf(journal, ord).length);
          shortened += positions.length;
        },
      ),
      { numRuns: 2_000 },
    );
    expect(shortened).toBeGreaterThan(500);
  });

  it("are the position of a call whose journal row says the same units", () => {
    expect(energyOf("s", [charge(), charge({ reference: "s:2", units: 5 })], [whole(), finish("2", 5)])).toEqual([
      "1",
      "2",
    ]);
    expect(energyOf("s", [charge({ units: 0 })], [finish("1", 0)])).toEqual(["1"]);
    expect(energyOf("", [charge({ reference: ":1" })], [whole()])).toEqual(["1"]);
    expect(energyOf("s", [], [whole()])).toEqual([]);
  });

  it.each<readonly [string, EnergyRow, readonly JournalWrite[]]>([
    ["a call that is not in the commit", charge(), []],
    ["a call that has only begun", charge(), [start({})]],
    ["a call at another position", charge(), [finish("2", 2)]],
    ["a call at a position that begins alike", charge(), [finish("1.1", 2)]],
    ["a call of another session", charge({ reference: "other:1" }), [whole()]],
    ["a call that was amended", charge({ reference: "s:1:amended" }), [whole()]],
    ["a call that cost more", charge({ units: 3 }), [whole()]],
    ["a call that cost less", charge({ units: 1.999 }), [finish("1", 2)]],
    ["a model", charge({ cause: "model" }), [whole()]],
    ["no call", charge({}, "reference"), [whole()]],
    ["a position alone", charge({ reference: "1" }), [whole()]],
  ])("are written in full for %s", (_, row, journal) => {
    expect(energyOf("s", [row], journal)).toEqual([row]);
    // And it takes no other's place.
    expect(energyOf("s", [row, charge({ reference: "s:9" })], [...journal, finish("9", 2)])).toEqual([row, "9"]);
  });

  it("are the position only once, and only in the order of the journal", () => {
    const journal = [start({}), finish("1", 2), finish("2", 2)];
    const [first, second] = [charge(), charge({ reference: "s:2" })];
    expect(energyOf("s", [first, first, second], journal)).toEqual(["1", first, "2"]);
    expect(energyOf("s", [second, first], journal)).toEqual(["2", first]);
    // One attempt that cost something else, and the one that ended it.
    const attempt = charge({ units: 1 });
    expect(energyOf("s", [attempt, first, second], journal)).toEqual([attempt, "1", "2"]);
  });
});

const begun = fc
  .record({
    ord: name,
    scope: name,
    stepId: fc.option(name, { nil: undefined }),
    toolId: name,
    effects: fc.constantFrom("read" as const, "once" as const),
    key: name,
    argsHash: name,
    request: json,
    at: time,
  })
  .map(({ stepId, ...row }): JournalStart => ({ kind: "start", ...row, ...(stepId === undefined ? {} : { stepId }) }));

const ended = fc.record({
  state: fc.constantFrom("finished" as const, "failed" as const, "unknown" as const),
  result: json.map((output) => ({ output })),
  energyUnits: fc.integer({ min: -100, max: 100 }),
  at: time,
});

const event: fc.Arbitrary<NewEvent> = fc
  .record({
    type: fc.constantFrom("step-started" as const, "energy-spent" as const, "step-finished" as const),
    at: time,
    data: fc.dictionary(fc.string(), json),
  })
  .map((made) => JSON.parse(JSON.stringify(made)) as NewEvent);

/** Few values, so that those of neighbours are often the same. */
const few = fc.constantFrom("a", "t", "1", "");
const key = fc.constantFrom(
  "stepId",
  "toolId",
  "position",
  "attempt",
  "energyUnits",
  "cause",
  "units",
  "more",
  "",
  "type",
);
const value: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  "a",
  "t",
  "u",
  "tool",
  "model",
  "1",
  "",
  0,
  1,
  2,
  3,
  null,
  [2],
  {},
);

/** What a call leaves, as it is usual, and often with one thing or another that is not. */
const nearlyUsual: fc.Arbitrary<readonly NewEvent[]> = fc
  .record({
    at: time,
    call: fc.record({ stepId: few, toolId: few, position: few }),
    units: fc.integer({ min: 0, max: 2 }),
    form: fc.constantFrom("start", "end", "turned", "cost", "finish"),
    changes: fc.array(
      fc.record({ index: fc.nat(1), key, value: fc.option(value, { nil: undefined }), at: fc.option(time) }),
      { maxLength: 2 },
    ),
    isUsual: fc.boolean(),
  })
  .map(({ at, call, units, form, changes, isUsual }) => {
    const spent = cost({ toolId: call.toolId, units }, at);
    const end = finished({ ...call, energyUnits: units }, at);
    const forms = {
      start: [started({ ...call }, at)],
      end: [spent, end],
      turned: [end, spent],
      cost: [spent],
      finish: [end],
    };
    const events: NewEvent[] = [...forms[form]];
    for (const change of isUsual ? [] : changes) {
      const index = change.index % events.length;
      const one = events[index];
      if (one === undefined) continue;
      const { [change.key]: _, ...rest } = one.data;
      const data = change.value === undefined ? rest : { ...one.data, [change.key]: change.value };
      events[index] = { type: one.type, at: change.at ?? one.at, data };
    }
    return events;
  });

const energy: fc.Arbitrary<EnergyRow> = fc
  .record({
    at: time,
    cause: fc.constantFrom("tool" as const, "model" as const),
    units: fc.integer({ min: -100, max: 100 }),
    toolId: fc.option(name, { nil: undefined }),
    // Never that of a call of the session, since what they say of it would be wrong.
    reference: fc.option(
      name.map((other) => `another session ${other}`),
      { nil: undefined },
    ),
  })
  .map(({ toolId, reference, ...row }) => ({
    ...row,
    ...(toolId === undefined ? {} : { toolId }),
    ...(reference === undefined ? {} : { reference }),
  }));

/** A write of the journal, whose tool a finish does not say, and how its row in the ledger differs from it, if there is one. */
const calls = fc
  .record({
    kind: fc.constantFrom("start" as const, "finish" as const, "whole" as const),
    ord: fc.constantFrom("1", "2", "2.1", "", ":"),
    energyUnits: fc.integer({ min: 0, max: 2 }),
    isCharged: fc.boolean(),
    by: fc.constantFrom<Partial<EnergyRow>>({}, {}, {}, { units: 1 }, { reference: "s" }, { cause: "model" }),
  })
  .map(({ kind, ord, energyUnits, isCharged, by }) => {
    // Tool and time are those of the call: the ledger leaves them to the journal.
    const at = ord === "2" ? LATER : AT;
    const toolId = `tool at ${ord}`;
    const begun = start({ ord, toolId, at });
    const call: JournalWrite =
      kind === "start"
        ? begun
        : kind === "finish"
          ? finish(ord, energyUnits, at)
          : { ...begun, ...finish(ord, energyUnits), kind, at: AT, finishedAt: at };
    return { call, toolId, isCharged, by };
  });

/** As the ledger has it of a call that is not over, or is. */
function chargeOf(sessionId: string, call: JournalWrite, toolId: string): EnergyRow {
  const [at, units] =
    call.kind === "start" ? [call.at, 1] : [call.kind === "whole" ? call.finishedAt : call.at, call.energyUnits];
  return { at, cause: "tool", units, toolId, reference: `${sessionId}:${call.ord}` };
}

type Written = readonly (string | EnergyRow)[];

/** A reader of ledger rows, as their header describes them: a position stands for the next end of that call. */
function ledgerFrom(
  sessionId: string,
  written: Written,
  journal: readonly JournalWrite[],
  tools: ReadonlyMap<string, string>,
): EnergyRow[] {
  let next = 0;
  return written.map((entry) => {
    if (typeof entry !== "string") return entry;
    const index = journal.findIndex((call, at) => at >= next && call.kind !== "start" && call.ord === entry);
    const call = journal[index];
    if (call === undefined) throw new Error(`The journal has no end of ${entry} behind its ${String(next)} rows.`);
    next = index + 1;
    return chargeOf(sessionId, call, tools.get(entry) ?? "");
  });
}

function endsOf(journal: readonly JournalWrite[], ord: string): readonly JournalWrite[] {
  return journal.filter((call) => call.kind !== "start" && call.ord === ord);
}

/** The short forms among what was written. */
function shortOf(written: readonly unknown[]): readonly (readonly unknown[])[] {
  return written.filter((entry): entry is unknown[] => Array.isArray(entry) && (entry[0] === "s" || entry[0] === "f"));
}

function started(more: NewEvent["data"] = {}, at = AT, without?: string): NewEvent {
  return made("step-started", at, { stepId: "a", toolId: "t", position: "1", attempt: 1, ...more }, without);
}

function cost(more: NewEvent["data"] = {}, at = AT, without?: string): NewEvent {
  return made("energy-spent", at, { cause: "tool", toolId: "t", units: 2, ...more }, without);
}

function finished(more: NewEvent["data"] = {}, at = AT, without?: string): NewEvent {
  return made("step-finished", at, { stepId: "a", toolId: "t", position: "1", energyUnits: 2, ...more }, without);
}

function made(type: NewEvent["type"], at: string, data: NewEvent["data"], without: string | undefined): NewEvent {
  return { type, at, data: Object.fromEntries(Object.entries(data).filter(([key]) => key !== without)) };
}

function charge(more: Partial<EnergyRow> = {}, without?: "reference"): EnergyRow {
  const { reference, ...row } = { at: AT, cause: "tool" as const, units: 2, toolId: "t", reference: "s:1", ...more };
  return without === "reference" ? row : { ...row, reference };
}

function finish(ord: string, energyUnits: number, at = AT): JournalFinish {
  return { kind: "finish", ord, state: "finished", result: { output: 1 }, at, energyUnits };
}

function whole(): JournalWhole {
  return { ...start({}), ...finish("1", 2), kind: "whole", finishedAt: AT };
}

function start(more: Partial<JournalStart>): JournalStart {
  return {
    kind: "start",
    ord: "1",
    scope: "",
    toolId: "t",
    effects: "once",
    key: "s:1",
    argsHash: "h",
    request: { n: 1 },
    at: AT,
    ...more,
  };
}

function text(value: unknown): string {
  return JSON.stringify(value);
}
