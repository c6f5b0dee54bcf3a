/** Keeps the first bytes of a stream, counts the rest. */
type KeptOutput = { readonly text: () => string; readonly bytes: () => number; readonly isCut: () => boolean };

export type MarkedStream = {
  readonly push: (chunk: Buffer) => void;
  /** What was written beside the marked lines. */
  readonly rest: KeptOutput;
};

export type MarkedOptions = {
  /** Lines that begin with it, wherever that is, are the keeper's. */
  readonly mark: string;
  readonly maxLineBytes: number;
  readonly maxRestBytes: number;
  readonly onLine: (line: string) => void;
  /** A marked line that does not end. */
  readonly onOverflow: () => void;
};

/** Takes a stream apart into the lines that carry the mark and the bytes around them. */
export function createMarkedStream(options: MarkedOptions): MarkedStream {
  const mark = Buffer.from(options.mark);
  const rest = keep(options.maxRestBytes);
  /** Of the line that is open; undefined outside of one. */
  let line: Buffer[] | undefined;
  let lineBytes = 0;
  /** The end of what came, as long as it could be the beginning of a mark. */
  let held: Buffer = Buffer.alloc(0);

  function outside(bytes: Buffer): Buffer | undefined {
    const at = bytes.indexOf(mark);
    if (at < 0) {
      const safe = Math.max(0, bytes.length - mark.length + 1);
      rest.add(bytes.subarray(0, safe));
      held = bytes.subarray(safe);
      return undefined;
    }
    rest.add(bytes.subarray(0, at));
    line = [];
    lineBytes = 0;
    return bytes.subarray(at + mark.length);
  }

  function inside(open: Buffer[], bytes: Buffer): Buffer | undefined {
    const end = bytes.indexOf(NEW_LINE);
    const part = end < 0 ? bytes : bytes.subarray(0, end);
    lineBytes += part.length;
    if (lineBytes > options.maxLineBytes) {
      options.onOverflow();
      return undefined;
    }
    open.push(part);
    if (end < 0) return undefined;
    line = undefined;
    options.onLine(Buffer.concat(open).toString("utf8"));
    return bytes.subarray(end + 1);
  }

  return {
    push: (chunk) => {
      let bytes: Buffer | undefined = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      held = Buffer.alloc(0);
      while (bytes !== undefined) bytes = line === undefined ? outside(bytes) : inside(line, bytes);
    },
    rest: {
      text: () => new TextDecoder().decode(Buffer.concat([...rest.parts, held])),
      bytes: () => rest.seen(),
      isCut: () => rest.seen() > options.maxRestBytes,
    },
  };
}

const NEW_LINE = 0x0a;

function keep(maxBytes: number) {
  const parts: Buffer[] = [];
  let seen = 0;
  return {
    parts,
    seen: () => seen,
    add: (bytes: Buffer): void => {
      const room = maxBytes - seen;
      seen += bytes.length;
      if (room <= 0 || bytes.length === 0) return;
      // A copy: what is kept must not hold on to the whole chunk that it came in.
      parts.push(Buffer.from(bytes.subarray(0, room)));
    },
  };
}
