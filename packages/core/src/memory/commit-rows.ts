import type { Commit, ContextWrite, JournalWrite, SessionWrite } from "../ports/state-store.ts";
import type { EnergyCause } from "../schema/energy.ts";
import type { EventType } from "../schema/event.ts";
import type { SessionStatus } from "../schema/session.ts";
import type { Effects } from "../schema/tool.ts";
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
  readonly dropScopes: readonly string[];
  readonly context: readonly ContextText[];
  readonly journal: readonly JournalText[];
  readonly energy: readonly EnergyText[];
  readonly blobs: readonly BlobText[];
  readonly events: readonly EventText[];
  readonly cursor: { readonly name: string; readonly seq: number } | undefined;
  readonly energyUnits: number;
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
export type JournalIntent = {
  readonly scope: string;
  readonly stepId: string | null;
  readonly toolId: string;
  readonly effects: Effects;
  readonly key: string;
  readonly argsHash: string;
  readonly request: string;
  readonly startedAt: string;
};
export type JournalOutcome = {
  readonly state: "finished" | "failed" | "unknown";
  readonly result: string;
  readonly finishedAt: string;
  readonly energyUnits: number;
};
export type JournalText = {
  readonly ord: string;
  readonly intent: JournalIntent | undefined;
  readonly outcome: JournalOutcome | undefined;
};
type EnergyText = {
  readonly at: string;
  readonly cause: EnergyCause;
  readonly units: number;
  readonly toolId: string | null;
  readonly reference: string | null;
};
export type BlobText = { readonly id: string; readonly bytes: number; readonly mediaType: string; readonly at: string };
export type EventText = { readonly type: EventType; readonly at: string; readonly data: string };

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
    energy:
      energy === undefined
        ? NONE
        : energy.map((row) => ({
            at: checkKey(commit, "time", row.at),
            cause: row.cause,
            units: checkNumber(commit, "energy units", row.units),
            toolId: row.toolId === undefined ? null : checkKey(commit, "tool id", row.toolId),
            reference: row.reference === undefined ? null : checkKey(commit, "reference", row.reference),
          })),
    blobs:
      blobs === undefined
        ? NONE
        : blobs.map(({ ref, at }) => ({
            id: checkKey(commit, "blob id", ref.$blob),
            bytes: checkCount(commit, "blob size", ref.bytes),
            mediaType: checkKey(commit, "media type", ref.mediaType),
            at: checkKey(commit, "time", at),
          })),
    events:
      events === undefined
        ? NONE
        : events.map(({ type, at, data }) => ({
            type,
            at: checkKey(commit, "time", at),
            data: write(commit, "event", data, text),
          })),
    cursor:
      cursor === undefined
        ? undefined
        : {
            name: checkKey(commit, "cursor name", cursor.name),
            seq: checkCount(commit, "cursor", cursor.seq),
          },
    energyUnits: energy === undefined ? 0 : energy.reduce((sum, row) => sum + row.units, 0),
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
  const finishedAt = row.kind === "whole" ? row.finishedAt : row.at;
  return {
    ord: checkKey(commit, "position", row.ord),
    intent:
      row.kind === "finish"
        ? undefined
        : {
            scope: checkKey(commit, "scope", row.scope),
            stepId: row.stepId === undefined ? null : checkKey(commit, "step id", row.stepId),
            toolId: checkKey(commit, "tool id", row.toolId),
            effects: row.effects,
            key: checkKey(commit, "idempotency key", row.key),
            argsHash: checkKey(commit, "args hash", row.argsHash),
            request: write(commit, "request", row.request, text),
            startedAt: checkKey(commit, "time", row.at),
          },
    outcome:
      row.kind === "start"
        ? undefined
        : {
            state: row.state,
            result: write(commit, "result", row.result, text),
            finishedAt: checkKey(commit, "time", finishedAt),
            energyUnits: checkNumber(commit, "energy units", row.energyUnits),
          },
  };
}

function sizeOf(rows: readonly unknown[] | undefined): number {
  return rows === undefined ? 0 : rows.length;
}
