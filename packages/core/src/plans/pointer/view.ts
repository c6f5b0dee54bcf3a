import type { BlobRef } from "../../schema/blob.ts";

/**
 * What a pointer can see, as one step of one branch sees it. All answers are synchronous; what is not in memory is
 * named as a `Load`, and the driver brings it and asks again. Values are JSON and are never changed by either side.
 */
export type PointerView = {
  /** undefined: no such key. */
  readonly context: (key: string) => unknown;
  readonly contextKeys: () => Iterable<string>;
  readonly promptInput: unknown;
  readonly history: HistoryView;
  /** The parsed content of a blob whose media type is JSON. `absent` is a broken store, not an absent value. */
  readonly blob: (ref: BlobRef) => Loaded<unknown>;
};

/** Newest first. */
type HistoryView = {
  readonly at: (index: number) => Loaded<unknown>;
  readonly ofStep: (stepId: string) => Loaded<readonly unknown[]>;
  readonly newest: (limit: number) => Loaded<readonly unknown[]>;
};

export type Loaded<T> =
  | { readonly kind: "value"; readonly value: T }
  | { readonly kind: "absent" }
  | { readonly kind: "missing"; readonly load: Load };

export type Load =
  | { readonly kind: "blob"; readonly ref: BlobRef }
  | { readonly kind: "history-at"; readonly index: number }
  | { readonly kind: "history-step"; readonly stepId: string }
  | { readonly kind: "history-newest"; readonly limit: number };

/** One text per thing to load, so that it is asked for once. */
export function loadKey(load: Load): string {
  switch (load.kind) {
    case "blob":
      return `blob ${load.ref.$blob}`;
    case "history-at":
      return `history-at ${String(load.index)}`;
    case "history-step":
      return `history-step ${load.stepId}`;
    case "history-newest":
      return `history-newest ${String(load.limit)}`;
  }
}
