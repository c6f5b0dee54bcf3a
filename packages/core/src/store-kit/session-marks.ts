export const MAX_MARKED_SESSIONS = 10_000;

/** Tells whether a session has changed, without knowing how: its mark is another one then. */
export function createMarks(): {
  readonly change: (sessionId: string) => void;
  readonly of: (sessionId: string) => number;
} {
  const marks = new Map<string, number>();
  let last = 0;
  /** For sessions that are not known: higher than any mark they may have had. */
  let floor = 0;
  return {
    change: (sessionId) => {
      last += 1;
      if (marks.size >= MAX_MARKED_SESSIONS && !marks.has(sessionId)) {
        marks.clear();
        floor = last;
        last += 1;
      }
      marks.set(sessionId, last);
    },
    of: (sessionId) => marks.get(sessionId) ?? floor,
  };
}
