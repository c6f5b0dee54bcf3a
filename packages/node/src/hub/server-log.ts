/** What a server printed last, for people who ask why it does not work. */
export type ServerLog = {
  readonly add: (text: string) => void;
  readonly lines: () => readonly string[];
};

export const MAX_LOG_LINES = 200;
export const MAX_LOG_LINE_CHARS = 2_000;

export function createServerLog(redact: (text: string) => string = (text) => text): ServerLog {
  const kept: string[] = [];
  let open = "";
  return {
    add: (text) => {
      const [first = "", ...more] = text.split("\n");
      open = (open + first).slice(0, MAX_LOG_LINE_CHARS);
      for (const line of more) {
        keep(open);
        open = line.slice(0, MAX_LOG_LINE_CHARS);
      }
    },
    lines: () => (open === "" ? [...kept] : [...kept, redact(open)]),
  };

  function keep(line: string): void {
    if (line.trim() === "") return;
    kept.push(redact(line));
    if (kept.length > MAX_LOG_LINES) kept.shift();
  }
}
