// Opens the store of the folder that it is told on stdin and writes until it is killed; with a thread that folds, when it is
// told of one on its command line. Each commit that was
// acknowledged is said on stdout, as "session k"; the write is synchronous, so that what was said is never lost.
import { writeSync } from "node:fs";
import { join } from "node:path";
import { openFileBlobStore, openSqliteStateStore } from "@ergon/node";
import { writeCommit } from "./story.ts";

const SESSIONS = ["s0", "s1", "s2", "s3"];
/** Small, so that many kills fall into a checkpoint, and into a fold. */
const CHECKPOINT_PAGES = 150;
const TAIL_COMMITS = 8;
const [foldModule] = process.argv.slice(2);
const folds = foldModule === undefined ? {} : { foldModule, maxTailCommits: TAIL_COMMITS };

process.stdin.once("data", (folder: Buffer) => void write(folder.toString().trim()));
process.stdin.on("end", () => process.exit(0));

async function write(folder: string): Promise<void> {
  const store = openSqliteStateStore({ path: join(folder, "state.db"), checkpointPages: CHECKPOINT_PAGES, ...folds });
  const blobs = openFileBlobStore({ folder: join(folder, "blobs") });
  say("open");
  await Promise.all(
    SESSIONS.map(async (sessionId) => {
      let k = (await store.readSession(sessionId))?.version ?? 0;
      for (;;) {
        k += 1;
        await writeCommit(store, blobs, sessionId, k);
        say(`${sessionId} ${String(k)}`);
      }
    }),
  );
}

/** The reader may be slower than we write. */
function say(line: string): void {
  for (;;) {
    try {
      writeSync(1, `${line}\n`);
      return;
    } catch (thrown) {
      if (!(thrown instanceof Error) || !("code" in thrown) || thrown.code !== "EAGAIN") throw thrown;
    }
  }
}
