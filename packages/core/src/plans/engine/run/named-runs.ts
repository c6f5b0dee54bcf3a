import { isErgonError } from "../../../errors/ergon-error.ts";
import { storeError } from "../../../errors/store.ts";
import { usageError } from "../../../errors/usage.ts";
import type { NewRun } from "../../../ports/engine.ts";
import type { RunClaim, RunRow, StateStore } from "../../../ports/state-store.ts";
import { createTurns } from "../../../store-kit/turns.ts";
import { refuse } from "../../../store-kit/store-refusals.ts";
import { canonicalJson, sha256Hex } from "../../../schema/values/hash.ts";
import { jsonProblem, type Json } from "../../../schema/values/json.ts";
import { RunId, type SessionCore } from "../../../schema/session.ts";
import { readForm } from "../../validate-plan.ts";

/** `sessionId`: absent where the run gets a session of its own. */
type NamedRun = Required<Pick<NewRun, "owner" | "id">> & {
  readonly plan: unknown;
  readonly input: Json | undefined;
  readonly sessionId?: string | undefined;
};

export type NamedRuns = {
  /** Gives the run that has this id, or begins it with what `begin` commits. Of several at once, the first begins it. */
  readonly once: (named: NamedRun, begin: (claim: RunClaim) => Promise<SessionCore>) => Promise<SessionCore>;
};

/** Runs that their callers gave an id: asked for again, they are found instead of begun. */
export function createNamedRuns({
  store,
  coreOf,
}: {
  readonly store: Pick<StateStore, "readRun">;
  readonly coreOf: (owner: string, sessionId: string) => Promise<SessionCore>;
}): NamedRuns {
  const inTurn = createTurns();

  async function findOrBegin(
    { owner, id, plan, input, sessionId }: NamedRun,
    begin: (claim: RunClaim) => Promise<SessionCore>,
  ): Promise<SessionCore> {
    const claim = { id, hash: hashOf(plan, input) };
    const found = async (run: RunRow): Promise<SessionCore> => coreOf(owner, sessionOf(run, claim, sessionId));
    const known = await store.readRun({ owner, id });
    if (known !== undefined) return await found(known);
    try {
      return await begin(claim);
    } catch (thrown) {
      // Another engine on this store has been faster.
      const other =
        isErgonError(thrown) && thrown.code === "run_conflict" ? await store.readRun({ owner, id }) : undefined;
      if (other === undefined) throw thrown;
      return await found(other);
    }
  }

  return {
    once: async (named, begin) => {
      if (!RunId.safeParse(named.id).success) throw badId();
      return await inTurn(JSON.stringify([named.owner, named.id]), () => findOrBegin(named, begin));
    },
  };
}

function sessionOf(run: RunRow, { id, hash }: RunClaim, wanted: string | undefined): string {
  const { sessionId } = run;
  if (sessionId === undefined) throw refuse.runTaken(run);
  if (run.hash === hash && (wanted === undefined || wanted === sessionId)) return sessionId;
  const isSamePlan = run.hash.slice(0, PART) === hash.slice(0, PART);
  const other = run.hash === hash ? "in another session" : `with another ${isSamePlan ? "input" : "plan"}`;
  throw storeError(
    "run_conflict",
    `Run "${id}" is there already, ${other} (session ${sessionId}). The same plan and input give that run; for a new one use another id.`,
    { details: { runId: id, sessionId } },
  );
}

/** Hexadecimal digits of a hash's half: the plan's, then the input's. */
const PART = 32;

/** What cannot be read as a plan or as JSON is refused when it is checked: here it is only not the same as anything else. */
function hashOf(plan: unknown, input: Json = {}): string {
  const form = readForm(plan);
  const half = (value: Json): string => sha256Hex(canonicalJson(value)).slice(0, PART);
  const isJson = jsonProblem(input, { undefinedIsAbsent: true }) === undefined;
  return `${form === undefined ? "" : half(form as unknown as Json)}${isJson ? half(input) : ""}`;
}

function badId(): Error {
  return usageError(
    "input_invalid",
    "A run's id has 1 to 128 letters, digits, or characters of _ . : - and begins with a letter or a digit.",
  );
}
