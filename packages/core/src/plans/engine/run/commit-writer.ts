/*
 * Gives a run's commits to the store, in order, and says how far the run is ahead of the store and of the disk.
 * Covered by simulation.test.ts (with a slow store, a dying process, a loss of power) and races.test.ts.
 */
import { toErgonError } from "../../../errors/ergon-error.ts";
import type { Commit, ContextWrite, SessionWrite } from "../../../ports/state-store.ts";
import type { Json } from "../../../schema/values/json.ts";
import type { SessionCore } from "../../../schema/session.ts";
import { storedCursor } from "../../cursor.ts";
import type { EngineDeps } from "../engine-deps.ts";
import { withdrawQuestions } from "../waits/withdraw.ts";
import type { CommitBuilder } from "./commit-builder.ts";
import { createOrderedCommits } from "./ordered-commits.ts";
import type { Arrival, RunState } from "./run-state.ts";
import { recordSession } from "./session-rows.ts";

/** A run may be this many steps ahead of the store. */
export const MAX_STEPS_UNWRITTEN = 32;

/** And with `ERGON_FSYNC=always` this many ahead of the disk. */
export const MAX_STEPS_AHEAD = 32;

/** What the first commit of a run carries besides its first steps. */
export type Opening = Pick<Commit, "plan" | "run" | "blobs" | "context" | "journal"> & {
  /** The answer to the first step's check, given before the run began. */
  readonly checked?: Arrival | undefined;
  /** What may be called again is called before anything is written, and its outcome is part of the first commit. */
  readonly isHeld?: boolean | undefined;
  readonly planHash: string;
  readonly planChars: number;
  readonly input: Json;
};

/** Alone: made at once, and nothing that comes meanwhile becomes part of it. */
type FirstCommit = Opening & { readonly isAlone: boolean };

/** In the store; `onDisk` when the disk takes it as well. */
type Written = { readonly onDisk?: Promise<void> };

export type CommitWriter = {
  /** The builder that the store was given and has not taken yet, with its promise. */
  readonly open: () => OpenCommit | undefined;
  /** The first commit is a caller's request: it is refused if it cannot be written. Later commits hold results. */
  readonly first: (builder: CommitBuilder, first: FirstCommit) => Promise<Written>;
  /** What arrives until the store takes it becomes part of it. */
  readonly give: (builder: CommitBuilder) => Promise<Written>;
  /** Counts a step that the store has not said that it has. */
  readonly count: (builder: CommitBuilder) => void;
  readonly isBehind: () => boolean;
  readonly isAheadOfDisk: () => boolean;
  readonly isIdle: () => boolean;
};

type OpenCommit = { readonly builder: CommitBuilder; readonly written: Promise<Written> };

export type CommitWriterParts = {
  readonly deps: EngineDeps & { readonly stopping: AbortSignal };
  readonly state: RunState;
  readonly onCommit: (core: SessionCore) => void;
  /** The run is over: it ended, or its first commit was refused. */
  readonly over: () => void;
  readonly failed: (thrown: unknown) => void;
  /** After each commit that was given, written or not. */
  readonly after: () => void;
};

export function createCommitWriter({ deps, state, onCommit, over, failed, after }: CommitWriterParts): CommitWriter {
  const commitInOrder = createOrderedCommits(deps);
  let open: OpenCommit | undefined;
  /** Steps of which the store, and the disk, have not said that they have them. */
  let unwritten = 0;
  let ahead = 0;

  return {
    open: () => open,
    first: (builder, first) => {
      const written = write(builder, first);
      if (!first.isAlone && !builder.taken) open = { builder, written };
      return written;
    },
    give: (builder) => {
      if (!builder.changed) return Promise.resolve(sync(builder));
      const written = write(builder);
      written.catch(failed).finally(after);
      if (!builder.taken) open = { builder, written };
      return written;
    },
    count: (builder) => {
      builder.steps++;
      unwritten++;
    },
    isBehind: () => unwritten >= MAX_STEPS_UNWRITTEN || unwritten + ahead >= MAX_STEPS_AHEAD,
    isAheadOfDisk: () => ahead >= MAX_STEPS_AHEAD,
    isIdle: () => unwritten === 0,
  };

  async function write(builder: CommitBuilder, first?: FirstCommit): Promise<Written> {
    const before = state.core;
    let made: ReturnType<typeof commitOf> | undefined;
    const make = (): Commit => {
      if (made === undefined) {
        builder.taken = true;
        open = undefined;
        made = commitOf(builder, first);
        hold(made.session.core);
      }
      return made;
    };
    try {
      if (first === undefined) await commitInOrder(make);
      else await deps.store.commit(first.isAlone ? make() : make);
    } catch (thrown) {
      if (first !== undefined) over();
      // Callers that wait for an answer get this one.
      for (const acknowledge of builder.acknowledge) acknowledge(Promise.reject(toErgonError(thrown, "engine_failed")));
      throw thrown;
    } finally {
      unwritten -= builder.steps;
    }
    if (builder.end !== undefined) await withdrawQuestions(deps, before);
    if (builder.end !== undefined) over();
    onCommit(made?.session.core ?? state.core);
    return sync(builder);
  }

  function commitOf(builder: CommitBuilder, first: Opening | undefined): Commit & { readonly session: SessionWrite } {
    const core = recordSession(state, builder, deps.supervised === true);
    const { context, dropScopes, journal, energy, blobs, events } = builder;
    const cursor = builder.end === undefined ? storedCursor(state.cursor) : null;
    return {
      sessionId: state.sessionId,
      owner: state.owner,
      expectVersion: state.version,
      session: first === undefined ? { core, cursor } : { core, cursor, planHash: first.planHash, input: first.input },
      ...(first?.plan === undefined ? {} : { plan: first.plan }),
      ...(first?.run === undefined ? {} : { run: first.run }),
      context: newestOf(context),
      dropScopes,
      journal,
      energy,
      blobs,
      events,
      durable: builder.durable,
    };
  }

  /** A commit raises the session's version by one (S3). */
  function hold(core: SessionCore): void {
    state.core = core;
    state.version++;
  }

  /** With `ERGON_FSYNC=always` the disk takes everything at once, and answers wait for it (E6). */
  function sync(builder: CommitBuilder): Written {
    if (deps.fsyncEveryStep !== true) {
      for (const acknowledge of builder.acknowledge) acknowledge(undefined);
      return {};
    }
    ahead += builder.steps;
    const onDisk = deps.store.sync().finally(() => {
      ahead -= builder.steps;
    });
    for (const acknowledge of builder.acknowledge) acknowledge(onDisk);
    onDisk.catch((thrown: unknown) => {
      const error = toErgonError(thrown, "store_unavailable").toJSON();
      deps.logger.error(
        { sessionId: state.sessionId, error },
        "fsync failed: recent steps may be lost on power failure.",
      );
    });
    return { onDisk };
  }
}

/** Of what one commit writes under the same name only the last would stay. */
function newestOf(writes: readonly ContextWrite[]): readonly ContextWrite[] {
  if (writes.length < 2) return writes;
  const scopes = new Map<string, Map<string, ContextWrite>>();
  for (const write of writes) {
    const scope = scopes.get(write.scope);
    if (scope === undefined) scopes.set(write.scope, new Map([[write.key, write]]));
    else scope.set(write.key, write);
  }
  return [...scopes.values()].flatMap((scope) => [...scope.values()]);
}
