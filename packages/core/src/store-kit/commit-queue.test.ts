import { describe, expect, it } from "vitest";
import type { Commit } from "../ports/state-store.ts";
import { createCommitQueue, MAX_BATCH_CHARS, MAX_BATCH_COMMITS, MAX_QUEUED_CHARS } from "./commit-queue.ts";
import { type CommitRows, commitRows } from "./commit-rows.ts";
import { refuse } from "./store-refusals.ts";
import { newsOf } from "./stored-rows.ts";

describe("the commit queue", () => {
  it("hands over the commits of one turn together, in their order", async () => {
    const { queue, batches } = openQueue();
    const made = ["a", "b", "c"].map((name) => queue.commit(named(name)));
    expect(batches).toEqual([]);
    await Promise.all(made);
    await queue.commit(named("d"));
    expect(batches.map((batch) => batch.map(({ cursor }) => cursor?.name))).toEqual([["a", "b", "c"], ["d"]]);
  });

  it("hands over no more at once than a transaction may take", async () => {
    const { queue, batches } = openQueue();
    await Promise.all(Array.from({ length: MAX_BATCH_COMMITS + 1 }, () => queue.commit(named("a"))));
    expect(batches.map((batch) => batch.length)).toEqual([MAX_BATCH_COMMITS, 1]);
  });

  it("hands over no more text at once than a transaction may take", async () => {
    const { queue, batches } = openQueue();
    const half = MAX_BATCH_CHARS / 2;
    await Promise.all([half, half, 100].map((chars) => queue.commit(sized(chars))));
    expect(batches.map((batch) => batch.length)).toEqual([2, 1]);
  });

  it("refuses, to be retried, when too much text waits, and takes more once that is written", async () => {
    const { queue } = openQueue();
    const waiting = Array.from({ length: MAX_QUEUED_CHARS / MAX_BATCH_CHARS }, () =>
      queue.commit(sized(MAX_BATCH_CHARS)),
    );
    await expect(queue.commit(sized(100))).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    await Promise.all(waiting);
    await queue.commit(sized(100));
  });

  it("asks for a commit that is a function when its batch is handed over, so that it can grow until then (S9)", async () => {
    const { queue, batches } = openQueue();
    let seq = 1;
    const made = queue.commit(() => ({ ...named("late"), cursor: { name: "late", seq } }));
    seq = 2;
    await made;
    expect(batches).toMatchObject([[{ cursor: { seq: 2 } }]]);
  });

  it("refuses a commit that cannot be made, and no other of its turn", async () => {
    const { queue, batches } = openQueue();
    const outcomes = await Promise.allSettled([
      queue.commit(named("good")),
      queue.commit(() => ({ ...named("bad"), owner: "\ud800" })),
      queue.commit(() => named("good, too")),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(outcomes[1]).toMatchObject({ reason: { code: "commit_invalid" } });
    expect(batches.map((batch) => batch.length)).toEqual([2]);
  });

  it("hands over no more text of functions at once than a transaction may take, and asks each once", async () => {
    const { queue, batches } = openQueue();
    let asked = 0;
    const half = MAX_BATCH_CHARS / 2;
    const late = (chars: number): Promise<unknown> =>
      queue.commit(() => {
        asked++;
        return sized(chars);
      });
    await Promise.all([half, half, 100].map(late));
    expect(batches.map((batch) => batch.length)).toEqual([2, 1]);
    expect(asked).toBe(3);
  });

  it("gives each commit its own outcome", async () => {
    const { queue } = openQueue((rows) =>
      rows.cursor?.name === "bad" ? refuse.unknownSession("s") : { version: 7, lastSeq: 0 },
    );
    const outcomes = await Promise.allSettled(["good", "bad", "good"].map((name) => queue.commit(named(name))));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("resolves durable commits once they are synced, and the others before (Q4)", async () => {
    const disk = Promise.withResolvers<void>();
    const { queue } = openQueue(undefined, () => disk.promise);
    const told: string[] = [];
    const durable = queue.commit({ ...named("durable"), durable: true }).then(() => told.push("durable"));
    await queue.commit(named("other")).then(() => told.push("other"));
    expect(told).toEqual(["other"]);
    disk.resolve();
    await durable;
    const failed = openQueue(undefined, () => Promise.reject(new Error("the disk is gone"))).queue;
    await expect(failed.commit({ ...named("durable"), durable: true })).rejects.toThrow("the disk is gone");
  });

  it("ends although a watcher commits at every event it hears", async () => {
    const { queue } = openQueue();
    const outcomes: Promise<unknown>[] = [];
    queue.watch(() => void outcomes.push(queue.commit(sized(100)).catch((error: unknown) => error)));
    const first = queue.commit(sized(100));
    queue.close();
    await first;
    expect(await Promise.all(outcomes)).toMatchObject([{ code: "store_closed" }]);
  });
});

function openQueue(
  receipt: (rows: CommitRows) => ReturnType<typeof refuse.closed> | { version: number; lastSeq: number } = () => ({
    version: 1,
    lastSeq: 0,
  }),
  sync?: () => Promise<void>,
) {
  const batches: (readonly CommitRows[])[] = [];
  const queue = createCommitQueue({
    logger: undefined,
    ...(sync === undefined ? {} : { sync }),
    atTurnEnd: (flush) => void setTimeout(flush, 0),
    apply: (batch) => {
      batches.push(batch);
      return {
        receipts: batch.map(receipt),
        news: newsOf(batch, 0),
      };
    },
  });
  return { queue, batches };
}

function named(name: string): Commit {
  return { sessionId: "", owner: "ada", cursor: { name, seq: 1 } };
}

/** A commit that comes to exactly so many characters. */
function sized(chars: number): Commit {
  const saying = (text: string): Commit => ({
    sessionId: "",
    owner: "ada",
    events: [{ type: "tools-changed", at: "", data: { text } }],
  });
  return saying("x".repeat(chars - commitRows(saying("")).chars));
}
