import {
  type BlobText,
  type CommitRows,
  type ContextText,
  type EnergyText,
  type JournalText,
  readEvents,
  type SessionStatus,
} from "@ergon/core";

/*
 * Commits as one record of the log: a JSON array. What is JSON in a commit's rows already is put in as it is, so that
 * writing costs no more than joining text; reading, for another thread or after a restart, takes it apart again.
 */
export function tailText(commits: readonly CommitRows[]): string {
  let text = "[";
  for (const rows of commits) text += (text.length === 1 ? "" : ",") + commitText(rows);
  return `${text}]`;
}

export function readTailText(text: string): CommitRows[] {
  const commits = JSON.parse(text) as Written[];
  return commits.map((written) => readCommit(written, Math.ceil(text.length / commits.length)));
}

function commitText(rows: CommitRows): string {
  const { session, plan, dropScopes, context, journal, energy, blobs, events, cursor } = rows;
  let text = `{"sessionId":${quoted(rows.sessionId)},"owner":${quoted(rows.owner)}`;
  if (session !== undefined) {
    text += `,"core":${session.core},"frames":${session.frames}`;
    if (session.planHash !== null) text += `,"planHash":${quoted(session.planHash)}`;
    if (session.input !== null) text += `,"input":${session.input}`;
  }
  if (plan !== undefined) text += `,"plan":{"hash":${quoted(plan.hash)},"plan":${plan.plan}}`;
  if (dropScopes.length > 0) text += `,"dropScopes":${JSON.stringify(dropScopes)}`;
  if (context.length > 0) text += `,"context":[${context.map(contextText).join(",")}]`;
  if (journal.length > 0) text += `,"journal":[${journal.map(journalText).join(",")}]`;
  if (energy !== undefined)
    text += `,"energy":{"units":${String(energy.units)},"rows":${String(energy.rows)},"entries":${energy.text}}`;
  if (blobs.length > 0) text += `,"blobs":${JSON.stringify(blobs)}`;
  if (events !== undefined) text += `,"events":${events.text}`;
  if (cursor !== undefined) text += `,"cursor":${JSON.stringify(cursor)}`;
  return `${text}}`;
}

function contextText({ scope, key, implicit, ord, value }: ContextText): string {
  const head = `[${quoted(scope)},${quoted(key)},${String(implicit)}`;
  return ord === null ? `${head},null,${value ?? "null"}]` : `${head},${quoted(ord)}]`;
}

function journalText({ ord, stepId, intent, outcome }: JournalText): string {
  const place = stepId === null ? quoted(ord) : `${quoted(ord)},${quoted(stepId)}`;
  return `[${place},${intent ?? "null"},${outcome ?? "null"}]`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

type Written = {
  readonly sessionId: string;
  readonly owner: string;
  readonly core?: { readonly status: SessionStatus };
  readonly frames?: unknown;
  readonly planHash?: string;
  readonly input?: unknown;
  readonly plan?: { readonly hash: string; readonly plan: unknown };
  readonly dropScopes?: readonly string[];
  readonly context?: readonly (readonly [string, string, boolean, string | null, unknown])[];
  readonly journal?: readonly WrittenEntry[];
  /** Version 1 had only its entries, each with its units. */
  readonly energy?: WrittenEnergy | readonly { readonly units: number }[];
  readonly blobs?: readonly BlobText[];
  readonly events?: readonly unknown[];
  readonly cursor?: { readonly name: string; readonly seq: number };
};
type WrittenEnergy = { readonly units: number; readonly rows: number; readonly entries: readonly unknown[] };
/** With the step's id, where there is one; version 1 had it inside the intent. */
type WrittenEntry =
  | readonly [ord: string, stepId: string, intent: unknown, outcome: unknown]
  | readonly [ord: string, intent: { readonly stepId?: string } | null, outcome: unknown];

function readCommit(written: Written, chars: number): CommitRows {
  const { sessionId, owner, core, plan, dropScopes = [], blobs = [], cursor } = written;
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
            frames: JSON.stringify(written.frames),
            planHash: written.planHash ?? null,
            input: written.input === undefined ? null : JSON.stringify(written.input),
          },
    plan: plan === undefined ? undefined : { hash: plan.hash, plan: JSON.stringify(plan.plan) },
    dropScopes,
    context: (written.context ?? []).map(([scope, key, implicit, ord, value]) => ({
      scope,
      key,
      implicit,
      ord,
      value: ord === null ? JSON.stringify(value) : null,
    })),
    journal: (written.journal ?? []).map(readEntry),
    energy: written.energy === undefined ? undefined : readEnergy(written.energy),
    blobs,
    events:
      written.events === undefined
        ? undefined
        : { types: readEvents(written.events).map(({ type }) => type), text: JSON.stringify(written.events) },
    cursor,
    chars,
  };
}

function readEntry(entry: WrittenEntry): JournalText {
  const [ord, stepId, intent, outcome] =
    entry.length === 4 ? entry : ([entry[0], entry[1]?.stepId ?? null, entry[1], entry[2]] as const);
  return {
    ord,
    stepId,
    intent: intent === null ? undefined : JSON.stringify(intent),
    outcome: outcome === null ? undefined : JSON.stringify(outcome),
  };
}

function readEnergy(written: NonNullable<Written["energy"]>): EnergyText {
  if (!Array.isArray(written)) {
    const { units, rows, entries } = written as WrittenEnergy;
    return { rows, units, text: JSON.stringify(entries) };
  }
  const rows = written as readonly { readonly units: number }[];
  return { rows: rows.length, units: rows.reduce((sum, { units }) => sum + units, 0), text: JSON.stringify(rows) };
}
