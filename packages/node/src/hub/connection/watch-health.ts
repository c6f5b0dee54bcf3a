import type { CallsUnderWay } from "../call/calls-under-way.ts";
import type { ServerLink } from "./connect-server.ts";

/** Silent for `maxMissed` checks in a row, a server counts as gone. */
export type HealthLimits = { readonly everyMs: number; readonly timeoutMs: number; readonly maxMissed: number };

export const HEALTH_LIMITS: HealthLimits = { everyMs: 30_000, timeoutMs: 10_000, maxMissed: 3 };

export type HealthDeps = {
  readonly link: Pick<ServerLink, "client" | "era" | "heard">;
  readonly calls: Pick<CallsUnderWay, "mark">;
  readonly limits: HealthLimits;
  readonly signal: AbortSignal;
  readonly onHeard: () => void;
  readonly onMissed: (thrown: unknown) => Promise<void>;
};

export type HealthWatch = {
  /** Why the server counts as gone. */
  readonly failed: Promise<string>;
  readonly stop: () => void;
};

/** Asks a server for a sign of life again and again. Whatever it says in the meantime is one, a refusal included. */
export function watchHealth({ link, calls, limits, signal, onHeard, onMissed }: HealthDeps): HealthWatch {
  const failed = Promise.withResolvers<string>();
  let missed = 0;
  let isStopped = false;
  let isExcused: (() => boolean) | undefined;
  const timer = setInterval(() => void look(), limits.everyMs);
  timer.unref();
  return {
    failed: failed.promise,
    stop: () => {
      isStopped = true;
      clearInterval(timer);
    },
  };

  async function look(): Promise<void> {
    const options = { signal, timeout: limits.timeoutMs };
    const heardBefore = link.heard();
    try {
      await (link.era === "modern" ? link.client.discover(options) : link.client.ping(options));
    } catch (thrown) {
      if (signal.aborted || isStopped) return;
      if (link.heard() === heardBefore) return miss(thrown);
    }
    missed = 0;
    isExcused = undefined;
    onHeard();
  }

  async function miss(thrown: unknown): Promise<void> {
    missed += 1;
    await onMissed(thrown);
    if (missed < limits.maxMissed) return;
    // It may be busy with what it has been sent, for as long as that may take; what it is sent from now on is no excuse.
    isExcused ??= calls.mark();
    if (!isExcused()) failed.resolve(`it did not answer ${String(missed)} times in a row`);
  }
}
