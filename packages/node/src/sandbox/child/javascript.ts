import type { ExecuteOrder, RealmOutcome } from "./protocol.ts";

export type Runner = {
  readonly run: (order: ExecuteOrder) => Promise<RealmOutcome>;
  /** What there is to say once it has started: a snapshot, or nothing. */
  readonly json: string;
};

const { parse, stringify } = JSON;
const { constructor: AsyncFunction } = Object.getPrototypeOf(async () => undefined) as {
  readonly constructor: new (code: string) => () => Promise<unknown>;
};

/** The code is the body of an async function; what it returns is its value. */
export function javascriptRunner(): Runner {
  return {
    json: "",
    run: async ({ code, inputs }) => {
      try {
        (globalThis as unknown as Record<string, unknown>)["inputs"] = parse(inputs);
        const value = await new AsyncFunction(`${code}\n//# sourceURL=${FILE}`)();
        const json = value === undefined ? "null" : stringify(value);
        if (json !== undefined) return { ok: true, json };
        return { ok: false, error: `The return value is not JSON: a value of type ${typeof value}` };
      } catch (thrown) {
        return { ok: false, error: storyOf(thrown) };
      }
    },
  };
}

const FILE = "code.js";
/** What the function's own head takes. */
const HEAD_LINES = 2;

/** Only the code's own lines, counted as its author counts them. */
function storyOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return `Uncaught ${String(thrown)}`;
  const places = (thrown.stack ?? "").split("\n").filter((line) => line.includes(FILE) && line.startsWith("    at "));
  const counted = places.map((line) =>
    line.replace(/code\.js, <anonymous>:(\d+)/g, (_, at: string) => `${FILE}:${String(Number(at) - HEAD_LINES)}`),
  );
  return [String(thrown), ...counted].join("\n");
}
