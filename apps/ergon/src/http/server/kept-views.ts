/** Sessions as they were last put on the wire. Most readers ask again for what has not changed. */
export type KeptViews = {
  /** The same text while the session stays as it is; `read` is asked when it is not kept, or not any more. */
  readonly textOf: (
    ref: { readonly owner: string; readonly sessionId: string },
    read: () => Promise<unknown>,
  ) => Promise<string>;
};

export const MAX_KEPT_VIEWS = 1_000;
/** A longer text costs more to keep than to write again. */
export const MAX_KEPT_CHARS = 64 * 1024;

type Kept = { readonly owner: string; readonly mark: number; readonly text: string };

/** `changes` gives another number once the session is another. */
export function createKeptViews(changes: (sessionId: string) => number): KeptViews {
  const views = new Map<string, Kept>();
  return {
    textOf: async ({ owner, sessionId }, read) => {
      // Asked before it is read: what changes meanwhile makes what is kept then outdated, never the other way round.
      const mark = changes(sessionId);
      const kept = views.get(sessionId);
      // Another owner's session does not exist; that is for `read` to say.
      if (kept?.mark === mark && kept.owner === owner) return kept.text;
      const text = JSON.stringify(await read());
      views.delete(sessionId);
      if (text.length > MAX_KEPT_CHARS) return text;
      views.set(sessionId, { owner, mark, text });
      const [oldest] = views.keys();
      if (views.size > MAX_KEPT_VIEWS && oldest !== undefined) views.delete(oldest);
      return text;
    },
  };
}
