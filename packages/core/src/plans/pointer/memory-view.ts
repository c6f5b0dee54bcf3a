import type { Loaded, PointerView } from "./view.ts";

export type MemoryView = {
  readonly context?: Readonly<Record<string, unknown>>;
  readonly promptInput?: unknown;
  /** As it is stored: oldest first. */
  readonly history?: readonly unknown[];
  /** Contents by blob id. */
  readonly blobs?: ReadonlyMap<string, unknown>;
};

/** A view over values that are all in memory: for dry runs, and for sessions small enough to be held whole. */
export function createMemoryView({ context = {}, promptInput = {}, history = [], blobs }: MemoryView): PointerView {
  const newestFirst = history.toReversed();
  return {
    context: (key) => (Object.hasOwn(context, key) ? context[key] : undefined),
    contextKeys: () => Object.keys(context),
    promptInput,
    history: {
      at: (index) => loaded(newestFirst[index]),
      ofStep: (stepId) => loaded(newestFirst.filter((entry) => stepOf(entry) === stepId)),
      newest: (limit) => loaded(newestFirst.slice(0, limit)),
    },
    blob: (ref) => loaded(blobs?.get(ref.$blob)),
  };
}

function loaded<T>(value: T | undefined): Loaded<T> {
  return value === undefined ? { kind: "absent" } : { kind: "value", value };
}

function stepOf(entry: unknown): unknown {
  return typeof entry === "object" && entry !== null && "planStepId" in entry ? entry.planStepId : undefined;
}
