import { toErgonError } from "../../../errors/ergon-error.ts";
import type { ErrorRecord } from "../../../schema/error.ts";
import type { At, Completion } from "../../transition.ts";
import type { EngineDeps } from "../engine-deps.ts";
import type { Arrival } from "../run/run-state.ts";
import { untilWritten } from "../run/until-written.ts";

/** A completion without what its effect says of it. */
export type Answer = Completion extends infer C ? (C extends Completion ? Omit<C, "position" | "atMs"> : never) : never;

/** How effects answer their run. */
export type EffectAnswers = {
  readonly answer: (
    effect: At,
    completion: Answer,
    extra?: Pick<Arrival, "call" | "joined" | "asked" | "downstream" | "reusedFrom">,
  ) => void;
  readonly fail: (effect: At, thrown: unknown) => void;
  /** A store that cannot be read is waited for; anything else is the step's failure. */
  readonly orFail: (effect: At, work: () => Promise<void>) => Promise<void>;
};

type AnswerParts = {
  readonly deps: EngineDeps & { readonly stopping: AbortSignal };
  readonly arrive: (arrival: Arrival) => void;
};

export function createEffectAnswers({ deps, arrive }: AnswerParts): EffectAnswers {
  const answer: EffectAnswers["answer"] = (effect, completion, extra) => {
    arrive({ completion: { ...completion, position: effect.position, atMs: deps.clock.now() }, ...extra });
  };
  const fail: EffectAnswers["fail"] = (effect, thrown) => {
    answer(effect, { kind: "failed", error: stepError(thrown) });
  };
  return {
    answer,
    fail,
    orFail: async (effect, work) => {
      try {
        await untilWritten(deps, work);
      } catch (thrown) {
        if (deps.stopping.aborted) throw thrown;
        fail(effect, thrown);
      }
    },
  };
}

export function stepError(thrown: unknown): ErrorRecord {
  return toErgonError(thrown, "step_failed").toJSON() as ErrorRecord;
}
