import { isErgonError, toErgonError } from "@ergon/core";
import type { App } from "../app.ts";
import type { Workplace } from "../workplace.ts";
import type { Reach } from "./reach.ts";

/** A folder whose owners keep dying is given up after this many. */
const MAX_OWNERS = 5;
/** The folder is entered this long after the start at the latest: the client's first questions come first. */
const ENTER_AFTER_MS = 500;

export type OwnerReach = {
  readonly reach: Reach;
  /** Enters the folder by itself in a moment: what was left unfinished there is taken up without being asked. */
  readonly enterSoon: () => void;
};

/** Many requests share one workplace; when its owner disappears, the first to notice enters anew for all. */
export function reachThroughOwner(app: App, onEnter: () => void = () => undefined): OwnerReach {
  let entered: Promise<Workplace> | undefined;
  const enterNow = async (): Promise<Workplace> => {
    try {
      const workplace = await app.enter({ recover: true, stays: true });
      onEnter();
      return workplace;
    } catch (thrown) {
      entered = undefined;
      throw thrown;
    }
  };
  const enter = (): Promise<Workplace> => (entered ??= enterNow());
  const leave = async (workplace: Workplace): Promise<void> => {
    const before = entered;
    if (before === undefined || (await before) !== workplace || entered !== before) return;
    entered = app.leave().then(enterNow);
    await entered;
  };

  return {
    reach: async ({ repeatable }, work) => {
      for (let owners = 1; ; owners += 1) {
        const workplace = await enter();
        try {
          return await work(workplace);
        } catch (thrown) {
          const gone = isErgonError(thrown) && thrown.code === "owner_gone";
          if (!gone || workplace.isOwner || owners >= MAX_OWNERS) throw thrown;
          await leave(workplace);
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
