import { usageError } from "../../errors/usage.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ISandboxService } from "../../ports/sandbox.ts";
import type { BlobRef } from "../../schema/blob.ts";
import type { AllowedCall, InvokeOptions } from "./call.ts";
import { createProgress } from "./call-progress.ts";
import { sandboxOf } from "./run-sandbox.ts";
import type { Infrastructure, ToolArgs, ToolBlobs, ToolContext, ToolInvocation, ToolRun } from "../tool.ts";

/** What is larger belongs into fewer blobs. */
export const MAX_BLOBS_PER_CALL = 1_000;

export type CallRunDeps = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly sandbox: ISandboxService;
  readonly dataRoots: readonly string[];
  readonly deniedPaths: readonly string[];
};

export type RunningCall = {
  isOver: boolean;
  readonly put: BlobRef[];
  readonly stopping: AbortController;
};

/**
 * What a tool is given of its call. Few tools log, report progress or look at the context, and what that takes costs
 * more than many a tool: it is made when it is first used. All but the context is the object's own, so that a tool may
 * hand on a copy of it.
 */
export class CallRun implements ToolRun {
  readonly signal: AbortSignal;
  readonly owner: string;
  readonly idempotencyKey: string;
  readonly progress: ToolRun["progress"];
  readonly logger: Logger;
  readonly sandbox: ISandboxService;
  readonly blobs: ToolBlobs;
  readonly dataRoots: readonly string[];
  readonly deniedPaths: readonly string[];
  declare readonly answers?: NonNullable<InvokeOptions["answers"]>;
  readonly #options: InvokeOptions;

  constructor(deps: CallRunDeps, call: AllowedCall, options: InvokeOptions, state: RunningCall) {
    this.#options = options;
    this.signal = state.stopping.signal;
    this.owner = call.owner;
    this.idempotencyKey = options.idempotencyKey;
    this.progress = progressOf(deps, options, state);
    this.logger = lazyLogger(() => (options.logger ?? deps.logger).child({ toolId: call.toolId }));
    this.sandbox = sandboxOf(deps.sandbox, this);
    this.blobs = noted(options.blobs ?? NO_BLOBS, state.put);
    this.dataRoots = deps.dataRoots;
    this.deniedPaths = deps.deniedPaths;
    if (options.answers !== undefined) this.answers = options.answers;
  }

  get context(): ToolContext {
    return this.#options.context;
  }
}

/** The context is read only by tools that take some of it. */
export class Invocation implements ToolInvocation {
  readonly args: ToolArgs;
  readonly infrastructure: Infrastructure;
  readonly #options: InvokeOptions;

  constructor(args: ToolArgs, options: InvokeOptions) {
    this.args = args;
    this.infrastructure = options.infrastructure ?? NO_INFRASTRUCTURE;
    this.#options = options;
  }

  get context(): ToolContext {
    return this.#options.context;
  }
}

const NO_INFRASTRUCTURE: Infrastructure = {};

function progressOf(deps: CallRunDeps, options: InvokeOptions, state: RunningCall): ToolRun["progress"] {
  let tell: ToolRun["progress"] | undefined;
  return (update) => {
    if (state.isOver) return;
    tell ??= reporter(deps, options);
    tell(update);
  };
}

function reporter({ clock, logger: own }: CallRunDeps, { progress: report, logger = own }: InvokeOptions) {
  return report === undefined ? () => undefined : createProgress({ clock, logger, report });
}

function lazyLogger(make: () => Logger): Logger {
  let made: Logger | undefined;
  const logger = (): Logger => (made ??= make());
  return {
    debug: (fields, message) => logger().debug(fields, message),
    info: (fields, message) => logger().info(fields, message),
    warn: (fields, message) => logger().warn(fields, message),
    error: (fields, message) => logger().error(fields, message),
    child: (fields) => logger().child(fields),
  };
}

/** The caller commits what was put together with the result. */
function noted(blobs: ToolBlobs, put: BlobRef[]): ToolBlobs {
  return {
    get: blobs.get,
    put: async (bytes, mediaType) => {
      if (put.length === MAX_BLOBS_PER_CALL) {
        throw usageError("not_available", `One call may put ${String(MAX_BLOBS_PER_CALL)} blobs at most.`);
      }
      const ref = await blobs.put(bytes, mediaType);
      put.push(ref);
      return ref;
    },
  };
}

const noBlobs = (): Promise<never> =>
  Promise.reject(usageError("not_available", "Whoever called this tool keeps no blobs for it."));
const NO_BLOBS: ToolBlobs = { put: noBlobs, get: noBlobs };
