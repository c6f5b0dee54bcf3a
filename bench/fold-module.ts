import { fileURLToPath } from "node:url";

/** What folds on a thread of its own, as `compose.ts` gives it to the store. */
export const FOLD_MODULE = fileURLToPath(new URL("sqlite/fold-worker.ts", import.meta.resolve("@ergon/node")));
