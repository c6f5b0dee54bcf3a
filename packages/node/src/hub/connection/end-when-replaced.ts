import { statSync, watch } from "node:fs";
import { dirname } from "node:path";
import type { ServerProcess } from "../process/server-process.ts";

/**
 * Kills a fenced server as soon as a file that is masked from it is replaced: the kernel takes the mask off then, and the server
 * would see the new file for as long as it was given to end. Its next start masks that one.
 */
export function endWhenReplaced(files: readonly string[], server: Pick<ServerProcess, "kill" | "ended">): void {
  for (const file of files) {
    const { ino } = statSync(file);
    const look = (): void => void (statSync(file, { throwIfNoEntry: false })?.ino === ino || server.kill());
    const watching = watch(dirname(file), { persistent: false }, look).on("error", server.kill);
    void server.ended.then(() => watching.close());
    // It may have been replaced before the watch began.
    look();
  }
}
