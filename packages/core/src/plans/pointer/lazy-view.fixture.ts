import { createMemoryView, type MemoryView } from "./memory-view.ts";
import { type Load, type Loaded, loadKey, type PointerView } from "./view.ts";

export type LazyView = {
  readonly view: PointerView;
  readonly load: (loads: readonly Load[]) => Promise<void>;
  /** Everything that was loaded, in order, as `loadKey` writes it. */
  readonly loaded: readonly string[];
};

/** A view that has nothing but the context and the prompt input in memory until it is asked to load. */
export function createLazyView(memory: MemoryView): LazyView {
  const backing = createMemoryView(memory);
  const present = new Set<string>();
  const loaded: string[] = [];
  const unlessMissing = <T>(load: Load, answer: () => Loaded<T>): Loaded<T> =>
    present.has(loadKey(load)) ? answer() : { kind: "missing", load };
  return {
    view: {
      ...backing,
      history: {
        at: (index) => unlessMissing({ kind: "history-at", index }, () => backing.history.at(index)),
        ofStep: (stepId) => unlessMissing({ kind: "history-step", stepId }, () => backing.history.ofStep(stepId)),
        newest: (limit) => unlessMissing({ kind: "history-newest", limit }, () => backing.history.newest(limit)),
      },
      blob: (ref) => unlessMissing({ kind: "blob", ref }, () => backing.blob(ref)),
    },
    load: async (loads) => {
      for (const load of loads) {
        present.add(loadKey(load));
        loaded.push(loadKey(load));
      }
      await Promise.resolve();
    },
    loaded,
  };
}

/** A blob id that stands out in a failing test: the name's characters as hex, filled with zeros. */
export function blobId(name: string): string {
  const hex = Array.from(name, (ch) => ch.charCodeAt(0).toString(16)).join("");
  return hex.padEnd(64, "0").slice(0, 64);
}

export function jsonRef(name: string, bytes = 70_000): { $blob: string; bytes: number; mediaType: string } {
  return { $blob: blobId(name), bytes, mediaType: "application/json" };
}
