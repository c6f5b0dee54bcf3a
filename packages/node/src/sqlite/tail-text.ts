import type { BlobText, CommitRows, ContextText, EnergyText, JournalText, NewEvent, SessionStatus } from "@ergon/core";

/*
 * Commits as one row of the tail: a JSON array. What is JSON in a commit's rows already is put in as it is, so that
 * writing costs no more than joining text; reading, which only a restart does, takes it apart again.
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
  if (energy !== undefined) text += `,"energy":${energy.text}`;
  if (blobs.length > 0) text += `,"blobs":${JSON.stringify(blobs)}`;
  if (events !== undefined) text += `,"events":${events.text}`;
  if (cursor !== undefined) text += `,"cursor":${JSON.stringify(cursor)}`;
  return `${text}}`;
}

function contextText({ scope, key, implicit, ord, value }: ContextText): string {
  const head = `[${quoted(scope)},${quoted(key)},${String(implicit)}`;
  return ord === null ? `${head},null,${value ?? "null"}]` : `${head},${quoted(ord)}]`;
}

function journalText({ ord, intent, outcome }: JournalText): string {
  return `[${quoted(ord)},${intent ?? "null"},${outcome ?? "null"}]`;
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
  readonly journal?: readonly (readonly [string, { readonly stepId?: string } | null, unknown])[];
  readonly energy?: readonly { readonly units: number }[];
  readonly blobs?: readonly BlobText[];
  readonly events?: readonly NewEvent[];
  readonly cursor?: { readonly name: string; readonly seq: number };
};

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
    journal: (written.journal ?? []).map(([ord, intent, outcome]) => ({
      ord,
      stepId: intent?.stepId ?? null,
      intent: intent === null ? undefined : JSON.stringify(intent),
      outcome: outcome === null ? undefined : JSON.stringify(outcome),
    })),
    energy: written.energy === undefined ? undefined : readEnergy(written.energy),
    blobs,
    events:
      written.events === undefined
        ? undefined
        : { types: written.events.map(({ type }) => type), text: JSON.stringify(written.events) },
    cursor,
    chars,
  };
}

function readEnergy(rows: readonly { readonly units: number }[]): EnergyText {
  return { rows: rows.length, units: rows.reduce((sum, { units }) => sum + units, 0), text: JSON.stringify(rows) };
}
