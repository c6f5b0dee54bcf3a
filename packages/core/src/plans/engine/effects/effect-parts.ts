import type { Effect } from "../../transition.ts";
import type { EngineDeps } from "../engine-deps.ts";
import type { Arrival, RunState } from "../run/run-state.ts";
import type { BlobCache } from "./blob-cache.ts";

export type Check = Extract<Effect, { kind: "check" }>;
export type Invoke = Extract<Effect, { kind: "invoke" }>;

export type EffectsParts = {
  readonly deps: EngineDeps & { readonly stopping: AbortSignal; readonly blobCache: BlobCache };
  readonly state: RunState;
  readonly arrive: (arrival: Arrival) => void;
  /** Counts work that goes on behind a transition. */
  readonly begun: (work: () => Promise<void>) => void;
};
