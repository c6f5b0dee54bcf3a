// Writes under a limit on file sizes until the store refuses, waits for a line on stdin (the limit was lifted), and
// writes on. Says on stdout what happened, as JSON lines.
import { once } from "node:events";
import { join } from "node:path";
import { isErgonError } from "@ergon/core";
import { openFileBlobStore, openSqliteStateStore } from "@ergon/node";
import { commitOf } from "./story.ts";

const [folder = ""] = process.argv.slice(2);
const store = openSqliteStateStore({ path: join(folder, "state.db") });
const blobs = openFileBlobStore({ folder: join(folder, "blobs") });
const MAX_COMMITS = 10_000;
let k = 0;

const refused = await writeUntilRefused();
const blob = await blobs.put(new Uint8Array(8 * 1024 * 1024), "a/b").catch(said);
const neighbours = await Promise.allSettled(
  ["s", "t", "u"].map((id) => store.commit(commitOf(id, id === "s" ? k + 1 : 1))),
);
say({
  refused,
  blob,
  neighbours: neighbours.map(({ status }) => status),
  at: (await store.readSession("s"))?.version,
  k,
});
await once(process.stdin, "data");
for (let n = 0; n < 50; n += 1) {
  k += 1;
  await store.commit(commitOf("s", k));
}
await blobs.put(new Uint8Array(8 * 1024 * 1024), "a/b");
await store.close();
say({ k });
process.exit(0);

async function writeUntilRefused(): Promise<unknown> {
  while (k < MAX_COMMITS) {
    try {
      await store.commit(commitOf("s", k + 1));
      k += 1;
    } catch (thrown) {
      return said(thrown);
    }
  }
  return undefined;
}

function said(thrown: unknown): unknown {
  if (!isErgonError(thrown)) throw thrown;
  return { code: thrown.code, retryable: thrown.retryable };
}

function say(what: unknown): void {
  process.stdout.write(`${JSON.stringify(what)}\n`);
}
