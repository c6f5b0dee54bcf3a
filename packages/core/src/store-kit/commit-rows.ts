import type { Commit, ContextWrite, JournalRow, JournalWrite, RunClaim, SessionWrite } from "../ports/state-store.ts";
import type { EnergyRow } from "../schema/energy.ts";
import type { EventType, NewEvent } from "../schema/event.ts";
import type { SessionStatus } from "../schema/session.ts";
import { checkCount, checkKey, checkNumber, invalid, type Measured, write } from "./commit-checks.ts";

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
  readonly run: RunClaim | undefined;
  readonly expireRuns: string | undefined;
  readonly dropScopes: readonly string[];
  readonly context: readonly ContextText[];
  readonly journal: readonly JournalText[];
  readonly energy: readonly EnergyRow[];
  readonly blobs: readonly BlobText[];
  readonly events: readonly EventText[];
  readonly cursor: { readonly name: string; readonly seq: number } | undefined;
  readonly chars: number;
};

export type SessionRow = {
  readonly status: SessionStatus;
  readonly core: string;
  readonly cursor: string;
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
  readonly position: string | null;
  readonly value: string | null;
};
/** One write of the journal: what was asked, what came of it, or both. `request` and `result` are JSON. */
export type JournalText = {
  readonly position: string;
  readonly start: JournalStartText | undefined;
  readonly end: JournalEndText | undefined;
};
export type JournalStartText = Pick<JournalRow, "scope" | "toolId" | "effects" | "key" | "argsHash" | "startedAt"> & {
  readonly stepId: string | null;
  readonly request: string;
};
export type JournalEndText = Pick<JournalRow, "energyUnits"> & {
  readonly state: Exclude<JournalRow["state"], "started">;
  readonly result: string;
  readonly finishedAt: string;
};
/** `data` is JSON. */
export type EventText = { readonly type: EventType; readonly at: string; readonly data: string };
export type BlobText = { readonly id: string; readonly bytes: number; readonly mediaType: string; readonly at: string };

/**
 * The door that every store shares: throws `commit_invalid` for what no store may take, and measures the commit.
 * Values are trusted to be JSON by their types; what JSON cannot write at all is refused here.
 */
export function commitRows(commit: Commit): CommitRows {
  const { sessionId, session, plan, run, expireRuns, dropScopes, context, journal, energy, blobs, events } = commit;
  const { cursor, expectVersion } = commit;
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
    run:
      run === undefined
        ? undefined
        : { id: checkKey(commit, "run id", run.id), hash: checkKey(commit, "run hash", run.hash) },
    expireRuns: expireRuns === undefined ? undefined : checkKey(commit, "time", expireRuns),
    dropScopes: dropScopes === undefined ? NONE : dropScopes.map((scope) => checkKey(commit, "scope", scope)),
    context: context === undefined ? NONE : context.map((row) => contextText(commit, row, text)),
    journal: journal === undefined ? NONE : journal.map((row) => journalText(commit, row, text)),
    energy: energy === undefined ? NONE : energy.map((row) => energyRow(commit, row, text)),
    blobs:
      blobs === undefined
        ? NONE
        : blobs.map(({ ref, at }) => ({
            id: checkKey(commit, "blob id", ref.$blob),
            bytes: checkCount(commit, "blob size", ref.bytes),
            mediaType: checkKey(commit, "media type", ref.mediaType),
            at: checkKey(commit, "time", at),
          })),
    events: events === undefined ? NONE : events.map((event) => eventText(commit, event, text)),
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
      commit.run !== undefined ||
      commit.expireRuns !== undefined ||
      sizeOf(commit.context) > 0 ||
      sizeOf(commit.dropScopes) > 0 ||
      sizeOf(commit.journal) > 0
    ) {
      throw invalid(commit, "names no session and so cannot write session, run, context or journal rows");
    }
    return;
  }
  checkKey(commit, "session id", sessionId);
  if (commit.run !== undefined && session === undefined) throw invalid(commit, "names a run without the session");
  if (session === undefined) return;
  if (expectVersion === undefined) throw invalid(commit, "writes the session without expectVersion");
  if (session.core.sessionId !== sessionId)
    throw invalid(commit, `writes the core of another session, "${session.core.sessionId}"`);
}

function sessionRow(commit: Commit, session: SessionWrite, text: Measured): SessionRow {
  return {
    status: session.core.status,
    core: write(commit, "session core", session.core, text),
    cursor: write(commit, "cursor", session.cursor, text),
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
    position: row.value.kind === "output" ? checkKey(commit, "position", row.value.position) : null,
    value: row.value.kind === "inline" ? write(commit, "context value", inline, text) : null,
  };
}

function journalText(commit: Commit, row: JournalWrite, text: Measured): JournalText {
  return {
    position: checkKey(commit, "position", row.position),
    start: row.kind === "finish" ? undefined : startText(commit, row, text),
    end: row.kind === "start" ? undefined : endText(commit, row, text),
  };
}

function startText(commit: Commit, row: Exclude<JournalWrite, { kind: "finish" }>, text: Measured): JournalStartText {
  const start = {
    scope: checkKey(commit, "scope", row.scope),
    stepId: row.stepId === undefined ? null : checkKey(commit, "step id", row.stepId),
    toolId: checkKey(commit, "tool id", row.toolId),
    effects: row.effects,
    key: checkKey(commit, "idempotency key", row.key),
    argsHash: checkKey(commit, "args hash", row.argsHash),
    request: write(commit, "request", row.request, text),
    startedAt: checkKey(commit, "time", row.at),
  };
  text.chars += start.scope.length + start.toolId.length + start.key.length + start.argsHash.length + ROW_CHARS;
  return start;
}

function endText(commit: Commit, row: Exclude<JournalWrite, { kind: "start" }>, text: Measured): JournalEndText {
  return {
    state: row.state,
    result: write(commit, "result", row.result, text),
    finishedAt: checkKey(commit, "time", row.kind === "whole" ? row.finishedAt : row.at),
    energyUnits: checkNumber(commit, "energy units", row.energyUnits),
  };
}

function eventText(commit: Commit, { type, at, data }: NewEvent, text: Measured): EventText {
  text.chars += type.length + checkKey(commit, "time", at).length + ROW_CHARS;
  return { type, at, data: write(commit, "event", data, text) };
}

function energyRow(commit: Commit, row: EnergyRow, text: Measured): EnergyRow {
  checkKey(commit, "time", row.at);
  checkNumber(commit, "energy units", row.units);
  const { toolId = "", reference = "" } = row;
  text.chars += checkKey(commit, "tool id", toolId).length + checkKey(commit, "reference", reference).length;
  text.chars += row.at.length + ROW_CHARS;
  return { ...row };
}

/** What the names of a row's fields come to in JSON. */
const ROW_CHARS = 26;

function sizeOf(rows: readonly unknown[] | undefined): number {
  return rows === undefined ? 0 : rows.length;
}
