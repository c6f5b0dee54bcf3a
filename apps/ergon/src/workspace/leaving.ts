// How a process leaves the data folder that it owns: not in a hurry when nobody is, and not without a word.
import type { EmbeddedEngine } from "@ergon/core/engine";
import type { WorkspaceParts } from "./workspace.ts";

type Leaving = Pick<WorkspaceParts, "clock" | "stopping" | "note">;

/** A command that ends by itself waits so long for calls that others began through it and that may not be repeated. */
export const MAX_UNHURRIED_MS = 600_000;
/** Whoever waits longer than this is told what for. */
const TELL_AFTER_MS = 1_000;

export const MAX_CALLS_NAMED = 5;

/** A tool may end the process that it runs in, and would again as soon as its session is taken up: somebody must know which. */
export function describeEnd(calls: ReturnType<EmbeddedEngine["underWay"]>): string | undefined {
  const [first] = calls;
  if (first === undefined) return undefined;
  const named = calls.slice(0, MAX_CALLS_NAMED).map(({ toolId, sessionId }) => `${toolId} (${sessionId})`);
  const more = calls.length > MAX_CALLS_NAMED ? ` and ${String(calls.length - MAX_CALLS_NAMED)} more` : "";
  return `The process ends with calls under way: ${named.join(", ")}${more}. The next one takes them up; if one of them ends every process, give its session up: ergon cancel ${first.sessionId}`;
}

/** Waits for what is under way, unless somebody is in a hurry. */
export async function unhurried(done: Promise<void>, { clock, stopping, note }: Leaving): Promise<void> {
  if (stopping.aborted) return;
  const over = new AbortController();
  const stop = AbortSignal.any([stopping, over.signal]);
  const telling = clock.sleep(TELL_AFTER_MS, stop).then(() => {
    if (!stop.aborted) note("Another session's call is under way and may not be repeated; waiting for its end.");
  });
  await Promise.race([done, clock.sleep(MAX_UNHURRIED_MS, stop)]);
  over.abort();
  await telling;
}
