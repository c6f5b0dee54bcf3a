import type { SandboxProfile, SandboxRequest, SandboxResult } from "../schema/sandbox.ts";

/*
 * Runs code that nobody trusts, away from this process and from everything it can reach.
 *
 * X1  Each execution has a fresh runtime, and nothing of it is left when it is over.
 * X2  What the code did is a result; only what kept it from running is thrown.
 * X3  `status`, `durationMs` and `truncated` are the sandbox's word, never the code's. The rest is the code's: data.
 * X4  A profile that was asked for and cannot be had is refused, never replaced by a weaker one.
 */
export type Sandbox = {
  /**
   * Throws `input_invalid`, `sandbox_profile_unavailable`, `sandbox_busy` when too many wait already,
   * `sandbox_unavailable`, and `cancelled` when the signal aborts: then the code is killed.
   */
  execute(request: SandboxRequest, options?: ExecuteOptions): Promise<SandboxResult>;
  /** Every profile, those included that cannot be had here. */
  profiles(): Promise<readonly SandboxProfile[]>;
  /** Kills what runs. */
  close(): Promise<void>;
};

type ExecuteOptions = {
  readonly signal?: AbortSignal;
  /** Called when this has to wait for what a machine makes once, and takes seconds. */
  readonly onPreparing?: () => void;
};

/** Spec 4's name for what tools see of it. */
export type ISandboxService = Pick<Sandbox, "execute">;
