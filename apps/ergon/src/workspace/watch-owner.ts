// What a command says while it waits for another process that owns the data folder.
import { type OwnedFolder } from "@ergon/node";

/** An owner that is busy answers its health check within this time; one that was stopped (SIGSTOP) does not. */
const ANSWER_MS = 2_000;
const FIRST_LOOK_MS = 1_500;
const NEXT_LOOK_MS = 5_000;

export type WatchedOwner = Pick<OwnedFolder, "pid" | "url"> & { readonly dataDir: string };

/** Looks now and then whether the owner still answers, and says once when it does not. Ends when what it returns is called. */
export function watchOwner(owner: WatchedOwner, note: (line: string) => void): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const lookIn = (ms: number): void => {
    timer = setTimeout(() => void look(), ms);
    timer.unref();
  };
  const look = async (): Promise<void> => {
    const answered = await ownerAnswers(owner);
    if (isOver) return;
    if (answered) lookIn(NEXT_LOOK_MS);
    else note(ownerSilent(owner));
  };
  lookIn(FIRST_LOOK_MS);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Whether a connection is answered at all; one that is refused is for those to tell who need it. */
export async function ownerAnswers({ url }: Pick<OwnedFolder, "url">): Promise<boolean> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  try {
    await (await fetch(new URL("/healthz", url), { signal })).body?.cancel();
    return true;
  } catch {
    return !signal.aborted;
  }
}

/** Why it takes no work, when it answers and says so. */
export async function ownerRefusal({ url }: Pick<OwnedFolder, "url">): Promise<string | undefined> {
  try {
    const answer = await fetch(new URL("/readyz", url), { signal: AbortSignal.timeout(ANSWER_MS) });
    const { detail } = (await answer.json()) as { readonly detail?: unknown };
    return answer.ok ? undefined : String(detail);
  } catch {
    // One that does not answer is the caller's to tell.
    return undefined;
  }
}

export function ownerSilent({ pid, dataDir }: WatchedOwner): string {
  const who = pid === undefined ? "The process" : `The process ${String(pid)}`;
  const remedy =
    pid === undefined
      ? "Find it and end it."
      : `If it was stopped, continue it with: kill -CONT ${String(pid)}. If it hangs, end it with: kill -9 ${String(pid)}.`;
  return `${who} that owns ${dataDir} does not answer. ${remedy}`;
}
