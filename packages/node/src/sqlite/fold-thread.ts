import { Worker } from "node:worker_threads";
import type { Logger } from "@ergon/core";
import type { FoldTask } from "./batch-writer.ts";

/** Folds on a thread of its own, so that a store that is written without a pause need not stop for it. */
export type FoldThread = {
  /** False while it starts, which the first question makes it do, and when it cannot. */
  readonly isReady: () => boolean;
  /** Ends when it is done, however it went: what the tables have says how. One task at a time. */
  readonly fold: (task: FoldTask) => Promise<void>;
  /** Stands still here until the task is done, at most so long. */
  readonly wait: (ms: number) => void;
  /** It moves what it wrote to its place, and the disk syncs much. */
  readonly isSyncing: () => boolean;
  readonly close: () => Promise<void>;
};

/** What the thread is told when it starts. */
export type FoldThreadData = { readonly path: string; readonly signs: SharedArrayBuffer };
/** Where among the signs it is said that a task is done, and that the disk is busy. */
export const DONE = 0;
export const SYNCING = 1;
/** That it has started, that the task up to this number is over, or that something else went wrong. */
export type FoldWord =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly upTo: number; readonly error?: string }
  | { readonly kind: "trouble"; readonly error: string };

const TROUBLE = {
  done: "Commits could not be put into their tables by another thread.",
  trouble: "What was put into the tables could not be moved to its place in the database yet.",
} as const;

export type FoldThreadParts = {
  /** The file of `fold-worker.ts`, as it was built. */
  readonly module: string;
  /** Of the database. */
  readonly path: string;
  readonly logger: Logger | undefined;
};

export function createFoldThread({ module, path, logger }: FoldThreadParts): FoldThread {
  const signs = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  let state: "idle" | "starting" | "ready" | "broken" = "idle";
  let worker: Worker | undefined;
  let task: { readonly upTo: number; readonly finish: () => void } | undefined;

  function start(): void {
    state = "starting";
    const workerData: FoldThreadData = { path, signs: signs.buffer };
    worker = new Worker(module, { workerData, name: "fold" });
    // A process that has nothing else to do may end: what is not folded is safe in the log.
    worker.unref();
    worker.on("message", (word: FoldWord) => {
      if (word.kind === "ready") state = "ready";
      else if (word.error !== undefined) logger?.warn({ error: word.error }, TROUBLE[word.kind]);
      if (word.kind === "done" && word.upTo === task?.upTo) task.finish();
    });
    worker.on("error", broken);
    worker.on("exit", broken);
  }

  function broken(why: unknown): void {
    if (state !== "broken") logger?.warn({ why: String(why) }, "The thread that folds has ended; it is done without.");
    state = "broken";
    task?.finish();
  }

  return {
    isReady: () => {
      if (state === "idle") start();
      return state === "ready";
    },
    fold: async (given) => {
      Atomics.store(signs, DONE, 0);
      const ended = Promise.withResolvers<void>();
      task = { upTo: given.upTo, finish: ended.resolve };
      worker?.postMessage(given);
      await ended.promise;
      task = undefined;
    },
    wait: (ms) => void Atomics.wait(signs, DONE, 0, ms),
    isSyncing: () => Atomics.load(signs, SYNCING) === 1,
    close: async () => {
      state = "broken";
      await worker?.terminate();
    },
  };
}
