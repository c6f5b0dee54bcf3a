import { type Engine, isErgonError } from "@ergon/core";
import type { App } from "./app.ts";

/** A folder whose owners keep dying is given up after this many. */
const MAX_OWNERS = 5;

/**
 * Does work that may be begun again, on whichever process owns the data folder. When that one disappears, the work
 * goes on with the next: most likely this very process, which takes up what was left.
 */
export async function throughOwner<T>(app: App, work: (engine: Engine) => Promise<T>): Promise<T> {
  for (let owners = 1; ; owners++) {
    const { engine, isOwner } = await app.enter({ recover: true });
    try {
      return await work(engine);
    } catch (thrown) {
      const gone = isErgonError(thrown) && thrown.code === "owner_gone";
      if (!gone || isOwner || owners >= MAX_OWNERS) throw thrown;
      await app.leave();
    }
  }
}
