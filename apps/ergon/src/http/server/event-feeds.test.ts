import type { StoredEvent } from "@ergon/core";
import { describe, expect, it } from "vitest";
import { createEventFeeds, type Follow, MAX_KEPT_BYTES, MAX_ROUND_BYTES } from "./event-feeds.ts";

const event = (seq: number, data: object = {}): StoredEvent =>
  ({ seq, type: "step-progressed", at: "2026-01-01T00:00:00.000Z", owner: "me", data }) as unknown as StoredEvent;

/** Events that come when the test says so. */
function source() {
  const events: StoredEvent[] = [];
  let news = Promise.withResolvers<void>();
  let pulled = 0;
  const state = { readers: 0 };
  const follow: Follow = async function* (afterSeq, signal) {
    state.readers += 1;
    signal.addEventListener("abort", () => news.resolve());
    for (let n = events.findIndex(({ seq }) => seq > afterSeq); !signal.aborted;) {
      const next = n < 0 ? undefined : events[n];
      if (next === undefined) {
        await news.promise;
        if (n < 0) n = events.findIndex(({ seq }) => seq > afterSeq);
        continue;
      }
      n += 1;
      pulled += 1;
      yield next;
    }
  };
  const push = (...more: readonly StoredEvent[]): void => {
    events.push(...more);
    news.resolve();
    news = Promise.withResolvers();
  };
  return { follow, push, state, pulled: () => pulled };
}

function member(afterSeq = 0, accepts: () => boolean = () => true) {
  let text = "";
  const seqs = (): number[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq));
  const write = (frames: Buffer): boolean => {
    text += frames.toString();
    return accepts();
  };
  return { afterSeq, write, seqs };
}

describe("a feed of events", () => {
  it("turns each event into text once, and reads the outbox once, for all members", async () => {
    const { follow, push, state } = source();
    const feeds = createEventFeeds();
    const members = Array.from({ length: 50 }, () => member());
    for (const one of members) feeds.join("me", follow, one);
    const alone = member();
    feeds.join("me, one session", follow, alone);
    let written = 0;
    const data = { toJSON: () => (written += 1) };
    push(event(1, data), event(2), event(3, data));
    for (const one of [...members, alone]) await expect.poll(one.seqs).toEqual([1, 2, 3]);
    expect([written, state.readers]).toEqual([2, 2]);
  });

  it("gives a member only what is behind its position", async () => {
    const { follow, push } = source();
    const feeds = createEventFeeds();
    const [first, later] = [member(0), member(2)];
    feeds.join("me", follow, first);
    feeds.join("me", follow, later);
    push(event(1), event(2), event(3), event(4));
    await expect.poll(later.seqs).toEqual([3, 4]);
    expect(first.seqs()).toEqual([1, 2, 3, 4]);
  });

  it("writes nothing to a member that is full, and goes on without a gap when it is not", async () => {
    const { follow, push } = source();
    const feeds = createEventFeeds();
    const [quick, slow] = [member(), member(0, () => false)];
    feeds.join("me", follow, quick);
    const joined = feeds.join("me", follow, slow);
    push(event(1));
    await expect.poll(slow.seqs).toEqual([1]);
    push(event(2), event(3));
    await expect.poll(quick.seqs).toEqual([1, 2, 3]);
    expect(slow.seqs()).toEqual([1]);
    joined.resume();
    expect(slow.seqs()).toEqual([1, 2, 3]);
  });

  it("keeps no more than its bound, and lets a member go that is further behind", async () => {
    const { follow, push } = source();
    const feeds = createEventFeeds();
    const [quick, slow] = [member(), member(0, () => false)];
    feeds.join("me", follow, quick);
    const joined = feeds.join("me", follow, slow);
    const large = { text: "x".repeat(MAX_ROUND_BYTES) };
    const count = Math.ceil(MAX_KEPT_BYTES / MAX_ROUND_BYTES) + 2;
    push(...Array.from({ length: count }, (_, n) => event(n + 1, large)));
    await expect.poll(() => quick.seqs().length, { timeout: 10_000 }).toBe(count);
    expect(feeds.mayJoin("me", 1)).toBe(false);
    expect(feeds.mayJoin("me", count)).toBe(true);
    joined.resume();
    expect(await joined.left).toBe(1);
  });

  it("reads no further ahead than one round, and rests after each round in proportion to what it took", async () => {
    const { follow, push, pulled } = source();
    const feeds = createEventFeeds();
    const times: number[] = [];
    const busy = (): boolean => {
      times.push(performance.now());
      while (performance.now() - (times.at(-1) ?? 0) < 20);
      return true;
    };
    feeds.join("me", follow, member(0, busy));
    const large = { text: "x".repeat(MAX_ROUND_BYTES) };
    push(event(1, large), event(2, large), event(3, large));
    await expect.poll(() => times.length).toBe(1);
    expect(pulled()).toBeLessThanOrEqual(2);
    await expect.poll(() => times.length, { timeout: 5_000 }).toBe(3);
    for (const n of [1, 2]) expect((times[n] ?? 0) - (times[n - 1] ?? 0)).toBeGreaterThan(200);
  });

  it("ends with its last member, and tells its members when the outbox cannot be read", async () => {
    const { follow, push, state } = source();
    const feeds = createEventFeeds();
    const first = feeds.join("me", follow, member());
    first.leave();
    expect(await first.left).toBe(0);
    const again = member();
    feeds.join("me", follow, again);
    push(event(1));
    await expect.poll(again.seqs).toEqual([1]);
    expect(state.readers).toBe(2);
    const broken: Follow = () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("the disk is gone")) }),
    });
    await expect(feeds.join("other", broken, member()).left).rejects.toThrow("the disk is gone");
    expect(feeds.mayJoin("other", 0)).toBe(true);
  });
});
