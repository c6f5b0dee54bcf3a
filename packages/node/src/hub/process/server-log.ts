/** What a server printed last, for people who ask why it does not work. */
export type ServerLog = {
  readonly add: (text: string) => void;
  readonly lines: () => readonly string[];
};

export const MAX_LOG_LINES = 200;
export const MAX_LOG_LINE_CHARS = 2_000;
/** So much of a line is held until it is shown: a secret is found only where it is whole, also beyond the cut. */
export const MAX_HELD_LINE_CHARS = 32 * 1024;
/** No secret is taken to be longer within a line. */
const MAX_SECRET_LINE_CHARS = 16 * 1024;

/**
 * The line that says why a program ended. Node prints the error first and its own version last; everything else says it at
 * the end.
 */
export function lastWords(lines: readonly string[]): string | undefined {
  const last = lines.at(-1);
  if (last === undefined || !/^Node\.js v\d/.test(last)) return last;
  return lines.findLast((line) => /^(?:Uncaught )?[\w.]*(?:Error|Exception)\b/.test(line)) ?? last;
}

export function createServerLog(redact: (text: string) => string = (text) => text): ServerLog {
  const kept: string[] = [];
  let open = "";
  return {
    add: (text) => {
      const [first = "", ...more] = text.split("\n");
      open = (open + first).slice(0, MAX_HELD_LINE_CHARS);
      for (const line of more) {
        keep(open);
        open = line.slice(0, MAX_HELD_LINE_CHARS);
      }
    },
    lines: () => (open === "" ? [...kept] : [...kept, shown(open)]),
  };

  function keep(line: string): void {
    if (line.trim() === "") return;
    kept.push(shown(line));
    if (kept.length > MAX_LOG_LINES) kept.shift();
  }

  function shown(line: string): string {
    const text = redact(line);
    // The end of what was held may be the beginning of a secret.
    const isWhole = line.length < MAX_HELD_LINE_CHARS;
    const sureChars = isWhole ? text.length : Math.max(0, text.length - MAX_SECRET_LINE_CHARS);
    return text.slice(0, Math.min(sureChars, MAX_LOG_LINE_CHARS));
  }
}
