import { availableParallelism } from "node:os";
import { type Clock, type Sandbox, toErgonError } from "@ergon/core";
import {
  gateError,
  SANDBOX_LIMITS,
  sandboxError,
  type SandboxProfile,
  type SandboxProfileName,
  type SandboxRequest,
  type SandboxResult,
} from "@ergon/core/schema";
import { findBundle, type SandboxBundle } from "./bundle.ts";
import { checkRequest } from "./check-request.ts";
import { denoLaunch, fencedDenoLaunch, fencedPythonLaunch, memoryOf } from "./launch.ts";
import { createProfiles, type Profiles } from "./profiles.ts";
import { type Launch, type Runtime, startRuntime } from "./runtime.ts";
import { hasSnapshot, pythonSnapshot } from "./snapshot.ts";
import { createSemaphore } from "./semaphore.ts";
import { createWarmPool } from "./warm-pool.ts";

/** Runtimes that wait for work: so many of a kind, for so long. */
const SPARES = 2;
const SPARE_IDLE_MS = 5 * 60_000;
const MAX_WAITING = 64;

export type LocalSandboxOptions = {
  /** Where the children's code lies. */
  readonly bundle: string;
  /** For what is made once and kept. */
  readonly cacheFolder: string;
  readonly clock: Clock;
  readonly maxAtOnce?: number;
  readonly maxWaiting?: number;
  readonly spares?: number;
  readonly profiles?: Profiles;
};

type Kind = {
  readonly language: SandboxRequest["language"];
  readonly profile: SandboxProfileName;
  readonly memoryMb: number;
};

/** Runs code in child processes of this one, each used once. */
export function createLocalSandbox(options: LocalSandboxOptions): Sandbox {
  const { clock, cacheFolder, maxAtOnce = Math.max(2, availableParallelism()), maxWaiting = MAX_WAITING } = options;
  const profiles = options.profiles ?? createProfiles();
  const running = new Set<Runtime>();
  let snapshot: Promise<string> | undefined;
  let isClosed = false;
  const semaphore = createSemaphore({
    maxInside: maxAtOnce,
    maxWaiting,
    refuse: () =>
      sandboxError("sandbox_busy", `The sandbox runs ${maxAtOnce} at once and ${maxWaiting} wait already; try later.`, {
        retryable: true,
        details: { maxAtOnce, maxWaiting },
      }),
  });
  const pool = createWarmPool<Kind, Runtime>({
    start,
    nameOf: ({ language, profile, memoryMb }) => `${profile} ${language} ${memoryMb}`,
    spares: options.spares ?? SPARES,
    idleMs: SPARE_IDLE_MS,
    after: (ms, callback) => clock.after(ms, callback),
  });

  return {
    execute: async (given, { signal, onPreparing } = {}) => {
      const request = checkRequest(given);
      const kind = {
        language: request.language,
        profile: request.profile ?? "default",
        memoryMb: memoryOf(request),
      } as const;
      await profiles.fenceOf(kind);
      try {
        await semaphore.enter(signal);
      } catch (thrown) {
        throw signal?.aborted === true ? cancelled() : thrown;
      }
      try {
        if (onPreparing !== undefined && !(await isPrepared(kind))) onPreparing();
        return await run(kind, request, signal);
      } finally {
        semaphore.leave();
        // Spares of odd sizes would never be asked for again.
        if (kind.memoryMb === SANDBOX_LIMITS.memoryMb.default && semaphore.waiting() === 0) pool.refill(kind);
      }
    },
    profiles: async () => (await profiles.list()).map((profile) => (profile.available ? looked(profile) : profile)),
    close: () => {
      isClosed = true;
      pool.close();
      for (const runtime of running) runtime.kill();
      return Promise.resolve();
    },
  };

  function looked(profile: SandboxProfile): SandboxProfile {
    try {
      findBundle(options.bundle);
      return profile;
    } catch (thrown) {
      return { ...profile, available: false, note: toErgonError(thrown, "sandbox_unavailable").message };
    }
  }

  async function run(kind: Kind, request: SandboxRequest, signal: AbortSignal | undefined): Promise<SandboxResult> {
    const runtime = await pool.take(kind);
    if (isClosed) {
      runtime.kill();
      throw sandboxError("sandbox_unavailable", "The sandbox is closed.");
    }
    running.add(runtime);
    try {
      const result = await runtime.run(request, signal);
      if (signal?.aborted === true) throw cancelled();
      return result;
    } finally {
      running.delete(runtime);
    }
  }

  async function start(kind: Kind): Promise<Runtime> {
    if (isClosed) throw sandboxError("sandbox_unavailable", "The sandbox is closed.");
    const launch = await launchOf(kind);
    return startRuntime({ launch, clock });
  }

  async function launchOf({ language, profile, memoryMb }: Kind): Promise<Launch> {
    const fence = await profiles.fenceOf({ language, profile });
    const bundle = findBundle(options.bundle);
    if (profile === "data" && fence !== undefined) return fencedPythonLaunch(fence, bundle, memoryMb);
    const from = language === "python" ? { snapshot: await snapshotOf(bundle) } : {};
    const wish = { language, memoryMb, ...from };
    return fence === undefined ? denoLaunch(bundle, wish) : fencedDenoLaunch(fence, bundle, wish);
  }

  async function isPrepared({ language, profile }: Kind): Promise<boolean> {
    if (language !== "python" || profile === "data") return true;
    return await hasSnapshot({ bundle: findBundle(options.bundle), folder: cacheFolder });
  }

  async function snapshotOf(bundle: SandboxBundle): Promise<string> {
    snapshot ??= pythonSnapshot({ bundle, folder: cacheFolder, clock });
    try {
      return await snapshot;
    } catch (thrown) {
      snapshot = undefined;
      throw thrown;
    }
  }
}

function cancelled(): Error {
  return gateError("cancelled", "The execution was cancelled.");
}
