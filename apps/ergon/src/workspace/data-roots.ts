import { homedir } from "node:os";
import { parse } from "node:path";

/**
 * The folders whose files data tools may read: those that were named, else the working folder and the samples that
 * come with Ergon. A home folder or a whole disk is not given away by having been started there.
 */
export function dataRootsFor(named: readonly string[], workingFolder: string, samples: string): readonly string[] {
  if (named.length > 0) return named;
  const isWhole = workingFolder === homedir() || workingFolder === parse(workingFolder).root;
  return isWhole ? [samples] : [workingFolder, samples];
}
