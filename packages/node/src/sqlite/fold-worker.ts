// The thread that folds: given records of the log, it puts them into the tables, in a transaction for each task.
import { parentPort, workerData } from "node:worker_threads";
import type { FoldTask } from "./batch-writer.ts";
import { foldTail } from "./fold.ts";
import { DONE, type FoldThreadData, type FoldWord, SYNCING } from "./fold-thread.ts";
import { openDatabase } from "./open-database.ts";
import { createSessionDirectory } from "./session-directory.ts";
import { createTail } from "./tail.ts";
import { readTailText } from "./tail-text.ts";
import { createWriteStatements, inTransaction, noteFolded } from "./write-statements.ts";

/** After so much text what was written is moved to its place in the database, apart from the tasks. */
const CHECKPOINT_CHARS = 4 * 1024 * 1024;
/** The other thread may be folding while this one starts. */
const WAIT_MS = 5_000;

const { path, signs: shared } = workerData as FoldThreadData;
const signs = new Int32Array(shared);
const db = openDatabase({ path, isShared: true, waitMs: WAIT_MS, checkpointPages: 0 });
const statements = createWriteStatements(db);
const checkpoint = db.prepare("PRAGMA wal_checkpoint(PASSIVE)");
let written = 0;

parentPort?.on("message", (task: FoldTask) => {
  tell({ kind: "done", upTo: task.upTo, ...attempt(task) });
  if (written >= CHECKPOINT_CHARS) moveOn();
});
tell({ kind: "ready" });

function attempt({ texts, after, upTo, numbers }: FoldTask): { readonly error?: string } {
  try {
    // Sessions are looked up anew: the other thread folds, too.
    const tail = createTail(createSessionDirectory(db), numbers);
    for (const text of texts) {
      for (const rows of readTailText(text)) tail.add(rows);
      written += text.length;
    }
    inTransaction(db, statements, () => {
      foldTail(statements, tail.now());
      noteFolded(statements, after, upTo);
    });
    return {};
  } catch (thrown) {
    return { error: String(thrown) };
  }
}

function moveOn(): void {
  Atomics.store(signs, SYNCING, 1);
  try {
    checkpoint.all();
    written = 0;
  } catch (thrown) {
    parentPort?.postMessage({ kind: "trouble", error: String(thrown) } satisfies FoldWord);
  } finally {
    Atomics.store(signs, SYNCING, 0);
  }
}

function tell(word: FoldWord): void {
  Atomics.store(signs, DONE, 1);
  Atomics.notify(signs, DONE);
  parentPort?.postMessage(word);
}
