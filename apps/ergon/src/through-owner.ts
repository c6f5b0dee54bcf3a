import { isErgonError } from "@ergon/core";
import type { App } from "./app.ts";
import type { Entrance, Workplace } from "./workplace.ts";

/** A folder whose owners keep dying is given up after this many. */
const MAX_OWNERS = 5;

export type OwnerWork = Pick<Entrance, "recover"> & {
  /** Whether the work may be begun again when the owner may have done it and could not say so. */
  readonly repeatable: boolean;
};

/** A look at the folder: nothing is set going for it, and it can be repeated. */
export const LOOK: OwnerWork = { recover: false, repeatable: true };

/**
 * Does work on whichever process owns the data folder. When that one disappears, the work goes on with the next: most
 * likely this very process, which takes up what was left.
 */
export async function throughOwner<T>(
  app: App,
  { recover, repeatable }: OwnerWork,
  work: (workplace: Workplace) => Promise<T>,
): Promise<T> {
  for (let owners = 1; ; owners++) {
    const workplace = await app.enter({ recover });
    try {
      return await work(workplace);
    } catch (thrown) {
      const gone = isErgonError(thrown) && thrown.code === "owner_gone";
      const again = gone && (repeatable || thrown.details?.["sent"] === false);
      if (!again || workplace.isOwner || owners >= MAX_OWNERS) throw thrown;
      await app.leave();
    }
  }
}
