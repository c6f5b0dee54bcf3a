import { ErgonError, isErgonError, storeError } from "@ergon/core";
import type { App } from "./app.ts";
import type { OpenOptions, Workspace } from "./workspace.ts";

/** A folder whose owners keep dying is given up after this many. */
const MAX_OWNERS = 5;

export type OwnerWork = Pick<OpenOptions, "recover"> & {
  /** Whether the work may be begun again when the owner may have done it and could not say so. */
  readonly repeatable: boolean;
  /** Looks only: where there is no data folder there is nothing to see, and none is made. */
  readonly looks?: boolean;
};

/** A look at the folder: nothing is set going for it, and it can be repeated. */
export const LOOK: OwnerWork = { recover: false, repeatable: true, looks: true };

/**
 * Does work on whichever process owns the data folder. When that one disappears, the work goes on with the next: most
 * likely this very process, which takes up what was left.
 */
export async function throughOwner<T>(
  app: App,
  { recover, repeatable, looks }: OwnerWork,
  work: (workspace: Workspace) => Promise<T>,
): Promise<T> {
  if (looks === true) await refuseAbsent(app);
  for (let owners = 1; ; owners++) {
    const workspace = await app.enter({ recover });
    try {
      return await work(workspace);
    } catch (thrown) {
      const gone = isErgonError(thrown) && thrown.code === "owner_gone";
      const again = gone && (repeatable || thrown.details?.["sent"] === false);
      if (workspace.isOwner) throw thrown;
      if (!again || owners >= MAX_OWNERS) throw hinted(thrown, app, workspace);
      await app.leave();
    }
  }
}

/** Folders named here are of no use to an owner that was started without them: whoever misses a tool is told. */
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
