export type McpChange =
  | { readonly kind: "list"; readonly list: "tools" | "prompts" | "resources" }
  | { readonly kind: "resource"; readonly owner: string; readonly uri: string };

/** Tells open connections that something they may have listed or read is another one now. */
export type McpChanges = {
  readonly announce: (change: McpChange) => void;
  /** Returns what ends it. */
  readonly listen: (listener: (change: McpChange) => void) => () => void;
  /** Somebody wants to hear of resources, until the returned function is called: only then are they looked after. */
  readonly interest: () => () => void;
  /** Resolves when they are looked after: what happens from then on is told. */
  readonly watching: () => Promise<void>;
};

export type WatchResources = (announce: (owner: string, uri: string) => void) => {
  readonly stop: () => void;
  readonly begun: Promise<void>;
};

/** `watchResources` is asked to begin with the first interest, and to end with the last. */
export function createMcpChanges(watchResources: WatchResources = () => NOTHING): McpChanges {
  const listeners = new Set<(change: McpChange) => void>();
  let interested = 0;
  let watch: ReturnType<WatchResources> | undefined;
  const announce = (change: McpChange): void => {
    for (const listener of listeners) listener(change);
  };
  return {
    announce,
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    interest: () => {
      interested += 1;
      watch ??= watchResources((owner, uri) => announce({ kind: "resource", owner, uri }));
      let ended = false;
      return () => {
        if (ended) return;
        ended = true;
        interested -= 1;
        if (interested > 0) return;
        watch?.stop();
        watch = undefined;
      };
    },
    watching: async () => {
      await watch?.begun;
    },
  };
}

/** Plans are tools, prompts and resources. */
export function announcePlans({ announce }: Pick<McpChanges, "announce">): void {
  for (const list of ["tools", "prompts", "resources"] as const) announce({ kind: "list", list });
}

const NOTHING = { stop: (): void => undefined, begun: Promise.resolve() };
