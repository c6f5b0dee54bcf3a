/*
 * One reading of the outbox for all live streams of the same events: those of a principal, or of one of its sessions. Each
 * event is turned into text once, and every stream that is up to date gets the same bytes.
 *
 * F1  A member gets every event behind its own position, once and in order.
 * F2  The newest frames are kept, MAX_KEPT_BYTES of them. A member that falls further behind leaves, and its stream reads
 *     the outbox itself until it may join again.
 * F3  Delivery takes a tenth of the time at most: after a round that took t, the next one begins 9t later. What the kernel and
 *     the garbage collector do for it comes on top; 500 readers are to cost a fifth of the throughput at most.
 */
import type { StoredEvent } from "@ergon/core";

/** Frames of one round, at most: what the event loop is held up by. */
export const MAX_ROUND_BYTES = 64 * 1024;
export const MAX_KEPT_BYTES = 1024 * 1024;
/** How long delivery rests for each millisecond that it took. */
const REST_FACTOR = 9;
/** Frames that several feeds share: they read the same events at nearly the same time. */
const SHARED_FRAMES = 256;

export type EventFeeds = {
  /** False when a stream at this position has to read the outbox itself first: what follows is no longer kept. */
  readonly mayJoin: (key: string, afterSeq: number) => boolean;
  /** `follow` reads what the streams of this key may see. */
  readonly join: (key: string, follow: Follow, member: Member) => Joined;
};

export type Follow = (afterSeq: number, signal: AbortSignal) => AsyncIterable<StoredEvent>;

type Member = {
  /** The last event that the stream has written. */
  readonly afterSeq: number;
  /** False when the connection is full: nothing more is written until `resume`. */
  readonly write: (frames: Buffer) => boolean;
};

type Joined = {
  /** Resolves with the member's position when it fell behind or left; rejects when the outbox cannot be read. */
  readonly left: Promise<number>;
  readonly resume: () => void;
  readonly leave: () => void;
};

type Batch = { readonly frames: Buffer; readonly seqs: readonly number[]; readonly ends: readonly number[] };
type Inside = {
  readonly write: Member["write"];
  readonly left: PromiseWithResolvers<number>;
  seq: number;
  full: boolean;
};

export function createEventFeeds(): EventFeeds {
  const feeds = new Map<string, Feed>();
  const due = new Set<Feed>();
  const frames = new Map<number, Buffer>();
  let round: NodeJS.Timeout | NodeJS.Immediate | undefined;

  return {
    mayJoin: (key, afterSeq) => afterSeq >= (feeds.get(key)?.floorSeq() ?? 0),
    join: (key, follow, member) => {
      let feed = feeds.get(key);
      if (feed === undefined) {
        const onOver = (): boolean => feeds.get(key) === feed && feeds.delete(key);
        feed = createFeed({ follow, frame, onDue, onOver }, member.afterSeq);
        feeds.set(key, feed);
      }
      return feed.join(member);
    },
  };

  function frame(event: StoredEvent): Buffer {
    const known = frames.get(event.seq);
    if (known !== undefined) return known;
    const made = Buffer.from(frameOf(event));
    frames.set(event.seq, made);
    for (const oldest of frames.keys()) {
      if (frames.size <= SHARED_FRAMES) break;
      frames.delete(oldest);
    }
    return made;
  }

  function onDue(feed: Feed): void {
    due.add(feed);
    round ??= setImmediate(deliver);
  }

  function deliver(): void {
    const startMs = performance.now();
    for (const feed of due) {
      due.delete(feed);
      feed.deliver();
    }
    // What the connections do with it comes with the same turn of the event loop, and counts.
    setImmediate(() => {
      const restMs = (performance.now() - startMs) * REST_FACTOR;
      round = setTimeout(() => {
        if (due.size > 0) deliver();
        else round = undefined;
      }, restMs).unref();
    });
  }
}

export function frameOf({ seq, type, ...rest }: StoredEvent): string {
  return `id: ${seq}\nevent: ${type}\ndata: ${JSON.stringify({ seq, type, ...rest })}\n\n`;
}

type Feed = {
  /** Every event behind this one is kept, or is still to come. */
  readonly floorSeq: () => number;
  readonly join: (member: Member) => Joined;
  readonly deliver: () => void;
};

type FeedParts = {
  readonly follow: Follow;
  readonly frame: (event: StoredEvent) => Buffer;
  readonly onDue: (feed: Feed) => void;
  readonly onOver: () => void;
};

function createFeed({ follow, frame, onDue, onOver }: FeedParts, beginSeq: number): Feed {
  const members = new Set<Inside>();
  const kept: Batch[] = [];
  const stopping = new AbortController();
  let keptBytes = 0;
  let floorSeq = beginSeq;
  let fresh: { seqs: number[]; frames: Buffer[]; bytes: number } = { seqs: [], frames: [], bytes: 0 };
  let delivered = Promise.withResolvers<void>();

  const feed: Feed = {
    floorSeq: () => floorSeq,
    join: ({ afterSeq, write }) => {
      const inside: Inside = { write, left: Promise.withResolvers(), seq: afterSeq, full: false };
      members.add(inside);
      give(inside);
      const leave = (): void => release(inside);
      const resume = (): void => {
        inside.full = false;
        give(inside);
      };
      return { left: inside.left.promise, resume, leave };
    },
    deliver: () => {
      keepFresh();
      for (const member of members) give(member);
      delivered.resolve();
      delivered = Promise.withResolvers();
    },
  };
  void read();
  return feed;

  /** Reads no further than one round ahead of what was delivered. */
  async function read(): Promise<void> {
    try {
      for await (const event of follow(beginSeq, stopping.signal)) {
        const made = frame(event);
        fresh.seqs.push(event.seq);
        fresh.frames.push(made);
        fresh.bytes += made.length;
        onDue(feed);
        if (fresh.bytes >= MAX_ROUND_BYTES) await delivered.promise;
      }
    } catch (thrown) {
      onOver();
      for (const { left } of members) left.reject(thrown instanceof Error ? thrown : new Error(String(thrown)));
      members.clear();
    }
  }

  function keepFresh(): void {
    if (fresh.seqs.length === 0) return;
    let end = 0;
    const ends = fresh.frames.map(({ length }) => (end += length));
    kept.push({ frames: Buffer.concat(fresh.frames), seqs: fresh.seqs, ends });
    keptBytes += end;
    fresh = { seqs: [], frames: [], bytes: 0 };
    while (keptBytes > MAX_KEPT_BYTES && kept.length > 1) {
      const oldest = kept.shift();
      keptBytes -= oldest?.frames.length ?? 0;
      floorSeq = oldest?.seqs.at(-1) ?? floorSeq;
    }
  }

  /** Writes what the member has not seen, until its connection is full. */
  function give(member: Inside): void {
    if (member.full) return;
    if (member.seq < floorSeq) return release(member);
    for (const { frames, seqs, ends } of kept) {
      const last = seqs.at(-1) ?? 0;
      if (last <= member.seq) continue;
      const first = seqs.findIndex((seq) => seq > member.seq);
      member.full = !member.write(first === 0 ? frames : frames.subarray(ends[first - 1]));
      member.seq = last;
      if (member.full) return;
    }
  }

  function release(member: Inside): void {
    if (!members.delete(member)) return;
    member.left.resolve(member.seq);
    if (members.size > 0) return;
    stopping.abort();
    delivered.resolve();
    onOver();
  }
}
