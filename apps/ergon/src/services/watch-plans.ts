import { type FSWatcher, watch } from "node:fs";
import { type Logger, toErgonError } from "@ergon/core";
import type { PlanCatalog } from "./plan-catalog.ts";

/** An editor writes a file in several goes; what comes within this time is one change. */
const SETTLED_MS = 150;
const PLAN_FILE = /\.plan\.(json|ya?ml)$/;

export type PlanWatch = {
  /** Called after plans have come, gone or changed; returns what ends it. */
  readonly listen: (listener: () => void) => () => void;
  readonly close: () => void;
};

/** Takes changes of plan files in the folders that the user named while the process runs. */
export function watchPlans(parts: {
  readonly folders: readonly string[];
  readonly plans: PlanCatalog;
  readonly logger: Logger;
}): PlanWatch {
  const { folders, plans, logger } = parts;
  const listeners = new Set<() => void>();
  let settling: NodeJS.Timeout | undefined;
  const warn = (thrown: unknown, message: string): void =>
    logger.warn({ error: toErgonError(thrown, "capability_broken").toJSON() }, message);

  const reload = async (): Promise<void> => {
    try {
      if ((await plans.reload?.()) !== true) return;
      logger.info({ plans: plans.ids().length }, "Plans were read again.");
      for (const listener of listeners) listener();
    } catch (thrown) {
      warn(thrown, "Changed plans could not be read.");
    }
  };
  const changed = (): void => {
    clearTimeout(settling);
    settling = setTimeout(() => void reload(), SETTLED_MS).unref();
  };
  const watchers = folders.flatMap((folder): FSWatcher[] => {
    try {
      const watcher = watch(folder, { recursive: true, persistent: false }, (_, file) => {
        if (file === null || PLAN_FILE.test(file)) changed();
      });
      watcher.on("error", (thrown) => warn(thrown, "A capability folder is not watched any more."));
      return [watcher];
    } catch (thrown) {
      warn(thrown, "A capability folder cannot be watched: its plans are those of the start.");
      return [];
    }
  });

  return {
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => {
      clearTimeout(settling);
      for (const watcher of watchers) watcher.close();
    },
  };
}
