import type { Correction } from "../schema/correction.ts";
import type { ErrorRecord } from "../schema/error.ts";
import type { Json, JsonObject } from "../schema/values/json.ts";
import type { ContextWrite } from "../ports/state-store.ts";
import type { Amendment, Due, StepState } from "./cursor.ts";
import type { ListPlace, Visit } from "./visits.ts";

/** What the interpreter asks its driver to do. Every effect is answered by completions for its `position`. */
export type Effect =
  /** Resolve the arguments and ask the gate; ask a person where that is needed. → checked | failed */
  | (At & { readonly kind: "check"; readonly amendment?: Amendment; readonly args?: JsonObject })
  /** Look whether a person has answered. → approval, if so */
  | (At & { readonly kind: "look"; readonly approvalId: string })
  /** Call the checked tool; its intent is committed first. → called */
  | (At & { readonly kind: "invoke"; readonly attempt: number; readonly amendment?: Amendment })
  /** Work out a condition, a collection's size or a message from the data. → evaluated | failed */
  | (At & { readonly kind: "evaluate" })
  /** → woke */
  | (At & Due & { readonly kind: "sleep" })
  /** Merge what the branches or turns wrote into their parent's context. → joined */
  | (At & { readonly kind: "join" });

export type At = { readonly position: string; readonly place: ListPlace; readonly stepId: string };

export type Completion = {
  readonly position: string;
  readonly atMs: number;
  /** The correction that it makes, settles or carries out, as it is afterwards. */
  readonly correction?: Correction;
} & (
  | { readonly kind: "checked"; readonly answer: "allowed" }
  /** `args`: what the person is asked about, to be called as they are once they say yes. */
  | {
      readonly kind: "checked";
      readonly answer: "needs_approval";
      readonly message: string;
      readonly approvalId: string;
      readonly args?: JsonObject;
    }
  | { readonly kind: "called"; readonly ok: true }
  | { readonly kind: "called"; readonly ok: false; readonly error: ErrorRecord }
  | { readonly kind: "evaluated"; readonly value: Evaluated }
  | { readonly kind: "woke" }
  | { readonly kind: "joined" }
  /** Something short of a call went wrong: a refused check, a pointer that leads nowhere. */
  | { readonly kind: "failed"; readonly error: ErrorRecord }
  | { readonly kind: "answered"; readonly input: Json }
  /** The question is answered, or over; `lost`: there is none any more, and it is asked anew. */
  | {
      readonly kind: "approval";
      readonly approvalId: string;
      readonly state: "approved" | "denied" | "expired" | "withdrawn" | "lost";
      readonly by?: string;
      readonly feedback?: string;
    }
  | { readonly kind: "decided"; readonly decision: Decision }
  /** The supervisor has a correction for a failed step; with `correction` only. */
  | { readonly kind: "proposed" }
  /** A person accepts or refuses the correction that was proposed. */
  | { readonly kind: "reviewed"; readonly accepted: boolean }
  /** The supervisor can do nothing for a failed step. */
  | { readonly kind: "escalated" }
);

export type Evaluated =
  | { readonly kind: "condition"; readonly holds: boolean }
  | { readonly kind: "collection"; readonly count: number }
  | { readonly kind: "message"; readonly message: string }
  | { readonly kind: "response"; readonly value: Json };

/** How a person, or the supervisor, answers a step that failed. */
export type Decision =
  | {
      readonly action: "retry";
      readonly args?: JsonObject;
      readonly toolId?: string;
      /** The same call once more: its idempotency key stays. */
      readonly sameKey?: true;
      /** Not at once. */
      readonly wait?: Due;
    }
  | { readonly action: "skip" }
  /** `output`: what came of a call whose outcome was unknown. */
  | { readonly action: "abort"; readonly output?: Json }
  | { readonly action: "happened"; readonly output: Json };

export type RunEnd = { readonly status: "completed" } | { readonly status: "failed"; readonly error: ErrorRecord };

/** What a step kind decides for the list it is in. */
export type Move =
  | { readonly to: "next"; readonly stepId: string | undefined }
  /** The same step as a new visit. */
  | { readonly to: "again"; readonly state: StepState }
  | { readonly to: "state"; readonly state: StepState }
  | { readonly to: "spread"; readonly count: number }
  | { readonly to: "end"; readonly end: RunEnd };

/** Gathers what one transition asks for. */
export type Out = {
  readonly effects: Effect[];
  readonly writes: ContextWrite[];
  /** Scopes of branches and turns that ended. */
  readonly closed: string[];
  end: RunEnd | undefined;
};

/** The behaviour of one step: `begin` on entry, `complete` for each answer, `owed` after a restart. */
export type StepKind = {
  readonly begin: (visit: Visit, out: Out) => Move;
  /** undefined: this visit does not wait for such an answer. */
  readonly complete: (visit: Visit, completion: Completion, out: Out) => Move | undefined;
  readonly owed: (visit: Visit) => Effect | undefined;
  /** For steps that hold lists. */
  readonly concurrency: number;
  readonly firstStepId: (index: number) => string;
};
