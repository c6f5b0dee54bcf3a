import { isErgonError, toErgonError } from "@ergon/core";
import type { App } from "../../workspace/app.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { WithOwner } from "./with-owner.ts";

/** A folder whose owners keep dying is given up after this many. */
const MAX_OWNERS = 5;
/** The folder is entered this long after the start at the latest: the client's first questions come first. */
const ENTER_AFTER_MS = 500;

export type OwnerClient = {
  readonly reach: WithOwner;
  /** Enters the folder by itself in a moment: what was left unfinished there is taken up without being asked. */
  readonly enterSoon: () => void;
};

/** Many requests share one workspace; when its owner disappears, the first to notice enters anew for all. */
export function reachThroughOwner(app: App, onEnter: () => void = () => undefined): OwnerClient {
  let entered: Promise<Workspace> | undefined;
  const enterNow = async (): Promise<Workspace> => {
    try {
      const workspace = await app.enter({ recover: true, stays: true });
      onEnter();
      return workspace;
    } catch (thrown) {
      entered = undefined;
      throw thrown;
    }
  };
  const enter = (): Promise<Workspace> => (entered ??= enterNow());
  const leave = async (workspace: Workspace): Promise<void> => {
    const before = entered;
    if (before === undefined || (await before) !== workspace || entered !== before) return;
    entered = app.leave().then(enterNow);
    await entered;
  };

  return {
    reach: async ({ repeatable }, work) => {
      for (let owners = 1; ; owners += 1) {
        const workspace = await enter();
        try {
          return await work(workspace);
        } catch (thrown) {
          const gone = isErgonError(thrown) && thrown.code === "owner_gone";
          if (!gone || workspace.isOwner || owners >= MAX_OWNERS) throw thrown;
          await leave(workspace);
          if (!repeatable && thrown.details?.["sent"] !== false) throw thrown;
        }
      }
    },
    enterSoon: () => {
      const tryNow = (): void => {
        enter().catch((thrown: unknown) => {
          app.logger.error({ error: toErgonError(thrown, "internal").toJSON() }, "The data folder cannot be used.");
        });
      };
      setTimeout(tryNow, ENTER_AFTER_MS).unref();
    },
  };
}
