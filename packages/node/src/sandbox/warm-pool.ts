/** Something that takes long to start and is used once. */
export type Startable = {
  readonly ready: Promise<void>;
  readonly kill: () => void;
  readonly isAlive: () => boolean;
};

export type WarmPoolOptions<Kind, One extends Startable> = {
  readonly start: (kind: Kind) => Promise<One>;
  /** Those of one name are alike. */
  readonly nameOf: (kind: Kind) => string;
  /** How many of a name are kept ready once one was asked for. */
  readonly spares: number;
  /** Spares that nobody asked for are let go after this long. */
  readonly idleMs: number;
  readonly after: (ms: number, callback: () => void) => () => void;
};

export type WarmPool<Kind, One extends Startable> = {
  /** Ready to use, and the caller's own: it is never given out twice. */
  readonly take: (kind: Kind) => Promise<One>;
  /** Starts what `take` used up; when the machine has nothing better to do. */
  readonly refill: (kind: Kind) => void;
  readonly close: () => void;
};

type Spares<One> = { readonly spares: Promise<One>[]; stopIdleTimer: () => void };

export function createWarmPool<Kind, One extends Startable>(options: WarmPoolOptions<Kind, One>): WarmPool<Kind, One> {
  const { start, nameOf, spares, idleMs, after } = options;
  const spareSets = new Map<string, Spares<One>>();
  const starting = new Set<One>();
  let isClosed = false;

  async function started(kind: Kind): Promise<One> {
    const one = await start(kind);
    if (isClosed) one.kill();
    starting.add(one);
    try {
      await one.ready;
      return one;
    } catch (thrown) {
      one.kill();
      throw thrown;
    } finally {
      starting.delete(one);
    }
  }

  function shelfOf(kind: Kind): Spares<One> {
    const name = nameOf(kind);
    const set = spareSets.get(name) ?? { spares: [], stopIdleTimer: () => undefined };
    spareSets.set(name, set);
    set.stopIdleTimer();
    set.stopIdleTimer = after(idleMs, () => clear(set));
    return set;
  }

  return {
    take: async (kind) => {
      const { spares: waiting } = shelfOf(kind);
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        // One that failed to start, or died since, is nobody's failure: the next is tried.
        const spare = await next.catch(() => undefined);
        if (spare?.isAlive() === true) return spare;
      }
      return started(kind);
    },
    refill: (kind) => {
      if (isClosed) return;
      const { spares: waiting } = shelfOf(kind);
      while (waiting.length < spares) {
        const spare = started(kind);
        spare.catch(() => undefined);
        waiting.push(spare);
      }
    },
    close: () => {
      isClosed = true;
      for (const one of starting) one.kill();
      for (const set of spareSets.values()) {
        set.stopIdleTimer();
        clear(set);
      }
    },
  };
}

function clear<One extends Startable>({ spares }: Spares<One>): void {
  for (const spare of spares.splice(0)) spare.then((one) => one.kill()).catch(() => undefined);
}
