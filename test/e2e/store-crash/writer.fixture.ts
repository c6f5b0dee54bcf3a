// Opens the store of the folder that it is told on stdin and writes until it is killed. Each commit that was
// acknowledged is said on stdout, as "session k"; the write is synchronous, so that what was said is never lost.
import { writeSync } from "node:fs";
import { join } from "node:path";
import { openFileBlobStore, openSqliteStateStore } from "@ergon/node";
import { writeCommit } from "./story.ts";

const SESSIONS = ["s0", "s1", "s2", "s3"];
/** Small, so that many kills fall into a checkpoint. */
const CHECKPOINT_PAGES = 150;

process.stdin.once("data", (folder: Buffer) => void write(folder.toString().trim()));
process.stdin.on("end", () => process.exit(0));

async function write(folder: string): Promise<void> {
  const store = openSqliteStateStore({ path: join(folder, "state.db"), checkpointPages: CHECKPOINT_PAGES });
  const blobs = openFileBlobStore({ folder: join(folder, "blobs") });
  writeSync(1, "open\n");
  await Promise.all(
    SESSIONS.map(async (sessionId) => {
      let k = (await store.readSession(sessionId))?.version ?? 0;
      for (;;) {
        k += 1;
        await writeCommit(store, blobs, sessionId, k);
        writeSync(1, `${sessionId} ${String(k)}\n`);
      }
    }),
  );
}
