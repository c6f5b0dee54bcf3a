import { setTimeout as sleep } from "node:timers/promises";
import { ErgonError, isErgonError } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import type { App } from "./app.ts";
import type { OpenOptions, Workspace } from "./workspace.ts";

/** A folder whose owners keep dying is given up after this many. */
const MAX_OWNERS = 5;
/** The kernel closes the connections of a process that was killed before it frees the folder, which takes a moment. */
const LEAVING_MS = 10_000;
const LEAVING_POLL_MS = 20;

export type OwnerWork = Pick<OpenOptions, "recover" | "stays"> & {
  /** Whether the work may be begun again when the owner may have done it and could not say so. */
  readonly repeatable: boolean;
  /** Looks only: where there is no data folder there is nothing to see, and none is made. */
  readonly looks?: boolean;
};

/** A look at the folder: nothing is set going for it, and it can be repeated. */
export const LOOK: OwnerWork = { recover: false, repeatable: true, looks: true };

/**
 * Does work on the process that owns the data folder. When that process disappears, the work goes on with the next owner:
 * most likely this very process, which resumes what was left. The one retry rule of every client:
 *
 * W1  What was not sent is sent to the next owner. What was sent and not answered is repeated only where it is `repeatable`.
 * W2  An owner that takes no request and still holds the folder is ending: it is waited for, and counts as one owner.
 */
export async function throughOwner<T>(
  app: App,
  { repeatable, looks, ...openOptions }: OwnerWork,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  if (looks === true) await refuseAbsent(app);
  let owners = 0;
  let gone: { readonly url: string; readonly since: number } | undefined;
  for (;;) {
    const workspace = await app.enter(openOptions);
    try {
      return await work(workspace);
    } catch (thrown) {
      if (workspace.isOwner) throw thrown;
      if (!isErgonError(thrown) || thrown.code !== "owner_gone") throw hinted(thrown, app, workspace);
      await app.leave(workspace);
      const wasSent = thrown.details?.["sent"] !== false;
      if (gone?.url !== workspace.url || wasSent) {
        owners += 1;
        gone = { url: workspace.url, since: performance.now() };
        if ((wasSent && !repeatable) || owners >= MAX_OWNERS) throw thrown;
      } else {
        if (performance.now() - gone.since > LEAVING_MS) throw unreachable(thrown, app, workspace);
        await sleep(LEAVING_POLL_MS);
      }
    }
  }
}

function unreachable({ code, retryable, details }: ErgonError, { settings }: App, { url }: Workspace): ErgonError {
  const message = `The process that owns ${settings.values.data} takes no requests at ${url} and still holds the folder. End it, or name another data folder.`;
  return new ErgonError(code, message, { retryable, ...(details && { details }) });
}

/** Folders named here are of no use to an owner that was started without them: a command that misses a tool says so. */
function hinted(thrown: unknown, { settings }: App, { url }: Workspace): unknown {
  const { capabilities, data } = settings.values;
  if (!isErgonError(thrown) || capabilities.length === 0) return thrown;
  const { code, message, retryable, details } = thrown;
  const problems: unknown = details?.["problems"];
  const misses =
    Array.isArray(problems) && problems.some((problem: { code?: unknown }) => problem.code === "unknown_tool");
  if (code !== "tool_not_found" && !misses) return thrown;
  const hint = `The process at ${url} owns ${data} and has the capability folders that it was started with, not those named here: give them to it, or name another data folder.`;
  return new ErgonError(code, `${message} ${hint}`, { retryable, cause: thrown, ...(details && { details }) });
}

async function refuseAbsent(app: App): Promise<void> {
  const { state, folder } = await app.inspectData();
  if (state !== "absent") return;
  throw storeError("folder_absent", `There is no data folder at ${folder} yet; ergon run and ergon serve make one.`, {
    details: { folder },
  });
}

/** For lists: what is not there yet is an empty one. */
export async function orEmpty<T>(look: Promise<T>, empty: T): Promise<T> {
  try {
    return await look;
  } catch (thrown) {
    if (isErgonError(thrown) && thrown.code === "folder_absent") return empty;
    throw thrown;
  }
}
