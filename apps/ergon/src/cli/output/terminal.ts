import pc from "picocolors";

type Colors = ReturnType<typeof pc.createColors>;

/** Where a command's answer goes (stdout) and where everything else goes (stderr). */
export type Terminal = {
  /** One JSON document on stdout instead of text for people. */
  readonly json: boolean;
  /** How this program is typed here, for hints: `ergon`, or `npx ergon`. */
  readonly command: string;
  /** Undefined when stdout is not a screen: then nothing is cut to fit. */
  readonly columns: number | undefined;
  /** Whether stderr can show a line that changes. */
  readonly canShowProgress: boolean;
  readonly colors: Colors;
  readonly errorColors: Colors;
  print(text: string): void;
  printJson(document: unknown): void;
  /** As they are: for content that is not text. */
  printBytes(bytes: Uint8Array): void;
  note(text: string): void;
  /** A warning, once however often it is given. */
  warn(message: string): void;
  /** Shows one line on stderr that the next one replaces; "" removes it. */
  status(line: string): void;
  /** Resolves when all that was printed has left the process. */
  flush(): Promise<void>;
};

export type TerminalStreams = { readonly stdout: NodeJS.WriteStream; readonly stderr: NodeJS.WriteStream };

export function createTerminal({ stdout, stderr }: TerminalStreams, json: boolean, command = "ergon"): Terminal {
  const colored = (stream: NodeJS.WriteStream) => pc.createColors(Boolean(stream.isTTY) && pc.isColorSupported);
  const warned = new Set<string>();
  return {
    json,
    command,
    columns: stdout.isTTY ? stdout.columns : undefined,
    canShowProgress: stderr.isTTY,
    colors: colored(stdout),
    errorColors: colored(stderr),
    print: (text) => void stdout.write(`${text}\n`),
    printJson: (document) => void stdout.write(`${JSON.stringify(document, undefined, stdout.isTTY ? 2 : 0)}\n`),
    printBytes: (bytes) => void stdout.write(bytes),
    note: (text) => void stderr.write(`${text}\n`),
    warn: (message) => {
      if (warned.has(message)) return;
      warned.add(message);
      stderr.write(`${colored(stderr).yellow("warning:")} ${message}\n`);
    },
    status: (line) => {
      if (stderr.isTTY) stderr.write(`\r\u001B[K${line.slice(0, Math.max(1, stderr.columns - 1))}`);
    },
    flush: async () => {
      await Promise.all([stdout, stderr].map(drained));
    },
  };
}

async function drained(stream: NodeJS.WriteStream): Promise<void> {
  await new Promise<void>((done) => {
    stream.write("", () => done());
  });
}
