import { cp } from "node:fs/promises";
import { join } from "node:path";
import { createSystemClock } from "@ergon/core";
import { findBundle } from "./bundle.ts";
import { pythonSnapshot } from "./snapshot.ts";

/** Making what a python starts from takes many seconds: it is made once for all tests, and once for every version of it. */
export const PREPARED_PYTHON = join(import.meta.dirname, "../../../../node_modules/.cache/ergon-sandbox");

/** Gives a data folder what its first python would make, for tests that are about something else. */
export async function preparePython(dataFolder: string): Promise<void> {
  const bundle = findBundle(join(import.meta.dirname, "child"));
  await pythonSnapshot({ bundle, folder: PREPARED_PYTHON, clock: createSystemClock() });
  await cp(PREPARED_PYTHON, join(dataFolder, "sandbox"), { recursive: true });
}
