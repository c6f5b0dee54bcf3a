import type { Commit, ContextWrite, JournalWrite, SessionWrite } from "../ports/state-store.ts";
import type { EnergyRow } from "../schema/energy.ts";
import type { EventType, NewEvent } from "../schema/event.ts";
import type { SessionStatus } from "../schema/session.ts";
import { checkCount, checkKey, checkNumber, invalid, type Measured, write } from "./commit-checks.ts";
import { energyOf, eventsOf, intentOf, outcomeOf } from "./row-text.ts";

/** One commit writes at most this many rows. */
export const MAX_COMMIT_ROWS = 50_000;
/** All JSON text of one commit together; large values belong into the blob store long before this. */
export const MAX_COMMIT_CHARS = 16 * 1024 * 1024;
/** A commit that was checked and turned into text, so that nothing the caller still holds can change it. */
export type CommitRows = {
  readonly sessionId: string;
  readonly owner: string;
  readonly expectVersion: number | undefined;
  readonly durable: boolean;
  readonly session: SessionRow | undefined;
  readonly plan: PlanRow | undefined;
  readonly dropScopes: readonly string[];
  readonly context: readonly ContextText[];
  readonly journal: readonly JournalText[];
  readonly energy: EnergyText | undefined;
  readonly blobs: readonly BlobText[];
  readonly events: EventsText | undefined;
  readonly cursor: { readonly name: string; readonly seq: number } | undefined;
  readonly chars: number;
};

export type SessionRow = {
  readonly status: SessionStatus;
  readonly core: string;
  readonly frames: string;
  /** null keeps what an earlier commit wrote. */
  readonly planHash: string | null;
  readonly input: string | null;
};
type PlanRow = { readonly hash: string; readonly plan: string };
export type ContextText = {
  readonly scope: string;
  readonly key: string;
  readonly implicit: boolean;
  /** Exactly one of the two is there. */
  readonly ord: string | null;
  readonly value: string | null;
};
/** One write of the journal, as the JSON that a row keeps (`row-text.ts`): what was asked, and what came of it. */
export type JournalText = {
  readonly ord: string;
  readonly stepId: string | null;
  readonly intent: string | undefined;
  readonly outcome: string | undefined;
};
/** Events as one JSON array, with their types. */
export type EventsText = { readonly types: readonly EventType[]; readonly text: string };
/** Ledger rows as one JSON array, with their number and sum. */
export type EnergyText = { readonly rows: number; readonly units: number; readonly text: string };
export type BlobText = { readonly id: string; readonly bytes: number; readonly mediaType: string; readonly at: string };

/**
 * The door that every store shares: throws `commit_invalid` for what no store may take, and measures the commit.
 * Values are trusted to be JSON by their types; what JSON cannot write at all is refused here.
 */
export function commitRows(commit: Commit): CommitRows {
  const { sessionId, session, plan, dropScopes, context, journal, energy, blobs, events, cursor, expectVersion } =
    commit;
  const count =
    sizeOf(dropScopes) +
    sizeOf(context) +
    sizeOf(journal) +
    sizeOf(energy) +
    sizeOf(blobs) +
    sizeOf(events) +
    (session === undefined ? 0 : 1);
  if (count > MAX_COMMIT_ROWS) {
    throw invalid(commit, `writes ${String(count)} rows, more than the ${String(MAX_COMMIT_ROWS)} that one commit may`);
  }
  checkKey(commit, "owner", commit.owner);
  checkFence(commit);
  const text = { chars: 0 };
  const rows = {
    sessionId,
    owner: commit.owner,
    expectVersion,
    durable: commit.durable === true,
    session: session === undefined ? undefined : sessionRow(commit, session, text),
    plan:
      plan === undefined
        ? undefined
        : { hash: checkKey(commit, "plan hash", plan.hash), plan: write(commit, "plan", plan.plan, text) },
    dropScopes: dropScopes === undefined ? NONE : dropScopes.map((scope) => checkKey(commit, "scope", scope)),
    context: context === undefined ? NONE : context.map((row) => contextText(commit, row, text)),
    journal: journal === undefined ? NONE : journal.map((row) => journalText(commit, row, text)),
    energy: energy === undefined || energy.length === 0 ? undefined : energyText(commit, energy, text),
    blobs:
      blobs === undefined
        ? NONE
        : blobs.map(({ ref, at }) => ({
            id: checkKey(commit, "blob id", ref.$blob),
            bytes: checkCount(commit, "blob size", ref.bytes),
            mediaType: checkKey(commit, "media type", ref.mediaType),
            at: checkKey(commit, "time", at),
          })),
    events: events === undefined || events.length === 0 ? undefined : eventsText(commit, events, text),
    cursor:
      cursor === undefined
        ? undefined
        : {
            name: checkKey(commit, "cursor name", cursor.name),
            seq: checkCount(commit, "cursor", cursor.seq),
          },
    // Last: by now everything was written and counted.
    chars: text.chars,
  };
  if (rows.chars > MAX_COMMIT_CHARS) {
    throw invalid(
      commit,
      `holds ${String(rows.chars)} characters of JSON, more than the ${String(MAX_COMMIT_CHARS)} that one commit may; put large values into the blob store`,
    );
  }
  return rows;
}

const NONE: readonly never[] = [];

function checkFence(commit: Commit): void {
  const { sessionId, session, expectVersion } = commit;
  if (expectVersion !== undefined) checkCount(commit, "expectVersion", expectVersion);
  if (sessionId === "") {
    if (
      session !== undefined ||
      expectVersion !== undefined ||
      sizeOf(commit.context) > 0 ||
      sizeOf(commit.dropScopes) > 0 ||
      sizeOf(commit.journal) > 0
    ) {
      throw invalid(commit, "names no session and so cannot write session, context or journal rows");
    }
    return;
  }
  checkKey(commit, "session id", sessionId);
  if (session === undefined) return;
  if (expectVersion === undefined) throw invalid(commit, "writes the session without expectVersion");
  if (session.core.sessionId !== sessionId)
    throw invalid(commit, `writes the core of another session, "${session.core.sessionId}"`);
}

function sessionRow(commit: Commit, session: SessionWrite, text: Measured): SessionRow {
  return {
    status: session.core.status,
    core: write(commit, "session core", session.core, text),
    frames: write(commit, "frames", session.frames, text),
    planHash: session.planHash === undefined ? null : checkKey(commit, "plan hash", session.planHash),
    input: session.input === undefined ? null : write(commit, "input", session.input, text),
  };
}

function contextText(commit: Commit, row: ContextWrite, text: Measured): ContextText {
  const inline = row.value.kind === "inline" ? row.value.value : undefined;
  return {
    scope: checkKey(commit, "scope", row.scope),
    key: checkKey(commit, "context key", row.key),
    implicit: row.implicit === true,
    ord: row.value.kind === "output" ? checkKey(commit, "position", row.value.ord) : null,
    value: row.value.kind === "inline" ? write(commit, "context value", inline, text) : null,
  };
}

function journalText(commit: Commit, row: JournalWrite, text: Measured): JournalText {
  const stepId = row.kind === "finish" || row.stepId === undefined ? null : checkKey(commit, "step id", row.stepId);
  return {
    ord: checkKey(commit, "position", row.ord),
    stepId,
    intent: row.kind === "finish" ? undefined : intentText(commit, row, text),
    outcome: row.kind === "start" ? undefined : outcomeText(commit, row, text),
  };
}

function intentText(commit: Commit, row: Exclude<JournalWrite, { kind: "finish" }>, text: Measured): string {
  checkKey(commit, "scope", row.scope);
  checkKey(commit, "tool id", row.toolId);
  checkKey(commit, "idempotency key", row.key);
  checkKey(commit, "args hash", row.argsHash);
  checkKey(commit, "time", row.at);
  if (row.request === undefined) throw invalid(commit, "has a request that is not JSON");
  return write(commit, "request", intentOf(commit.sessionId, row), text);
}

function outcomeText(commit: Commit, row: Exclude<JournalWrite, { kind: "start" }>, text: Measured): string {
  checkKey(commit, "time", row.kind === "whole" ? row.finishedAt : row.at);
  checkNumber(commit, "energy units", row.energyUnits);
  if (row.result === undefined) throw invalid(commit, "has a result that is not JSON");
  return write(commit, "result", outcomeOf(row), text);
}

function eventsText(commit: Commit, events: readonly NewEvent[], text: Measured): EventsText {
  for (const { at, data } of events) {
    checkKey(commit, "time", at);
    if (data === undefined) throw invalid(commit, "has an event that is not JSON");
  }
  return { types: events.map(({ type }) => type), text: write(commit, "event", eventsOf(events), text) };
}

function energyText(commit: Commit, rows: readonly EnergyRow[], text: Measured): EnergyText {
  let units = 0;
  for (const row of rows) {
    checkKey(commit, "time", row.at);
    units += checkNumber(commit, "energy units", row.units);
    if (row.toolId !== undefined) checkKey(commit, "tool id", row.toolId);
    if (row.reference !== undefined) checkKey(commit, "reference", row.reference);
  }
  return {
    rows: rows.length,
    units,
    text: write(commit, "energy row", energyOf(commit.sessionId, rows, commit.journal ?? []), text),
  };
}

function sizeOf(rows: readonly unknown[] | undefined): number {
  return rows === undefined ? 0 : rows.length;
}
