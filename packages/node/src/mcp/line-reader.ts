export type LineReader = {
  readonly take: (chunk: Buffer) => void;
  /** Forgets what has come, and takes no more. */
  readonly end: () => void;
};

export type LineReaderOptions = {
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  /** Told once, of a line that is longer; after it no more are read. */
  readonly onTooLong: () => void;
};

/** Cuts what comes through a pipe into lines; the beginning of one waits for the rest of it. */
export function createLineReader({ maxBytes, onLine, onTooLong }: LineReaderOptions): LineReader {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let isOver = false;

  const end = (): void => {
    isOver = true;
    rest = [];
    restBytes = 0;
  };

  return {
    end,
    take: (chunk) => {
      let from = 0;
      for (let to = chunk.indexOf(NEWLINE); to >= 0 && !isOver; to = chunk.indexOf(NEWLINE, from)) {
        if (restBytes + to - from > maxBytes) break;
        const line = restBytes === 0 ? chunk.toString("utf8", from, to) : joined(chunk.subarray(from, to));
        from = to + 1;
        if (line.trim() !== "") onLine(line);
      }
      if (isOver || from >= chunk.length) return;
      rest.push(chunk.subarray(from));
      restBytes += chunk.length - from;
      if (restBytes <= maxBytes) return;
      end();
      onTooLong();
    },
  };

  function joined(last: Buffer): string {
    const line = Buffer.concat([...rest, last]).toString("utf8");
    rest = [];
    restBytes = 0;
    return line;
  }
}

const NEWLINE = 0x0a;
