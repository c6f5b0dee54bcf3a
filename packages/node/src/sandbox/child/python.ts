import type { RealmBoot, RealmOutcome } from "./protocol.ts";
import { WebAssembly } from "./deno-types.ts";
import type { Runner } from "./javascript.ts";

type PythonFiles = NonNullable<RealmBoot["python"]>;
type Write = (bytes: Uint8Array) => number;

type Pyodide = {
  runPython(code: string): unknown;
  setStdout(handler: { write: Write }): void;
  setStderr(handler: { write: Write }): void;
  /** Deno has the built-in that turns bytes into text; Node's types do not know it yet. */
  makeMemorySnapshot(): Uint8Array & { toBase64(): string };
};

type PyodideModules = { readonly loadPyodide: (options: object) => Promise<Pyodide>; readonly glue: unknown };

/** Starts python from files that are in memory already, or from the memory of one that had started before. */
export async function pythonRunner(
  files: PythonFiles,
  { stdout, stderr }: { readonly stdout: Write; readonly stderr: Write },
): Promise<Runner> {
  const { loadPyodide, glue } = modulesOf(files);
  const restore = serveFiles(files);
  const python = await loadPyodide({
    indexURL: BUNDLE,
    lockFileContents: files.lock,
    createPyodideModule: glue,
    stdin: () => null,
    env: { HOME: "/home", PYTHONHASHSEED: "0" },
    ...(files.memory === undefined ? { _makeSnapshot: true } : { _loadSnapshot: files.memory }),
  });
  restore();
  if (files.memory === undefined) {
    python.runPython(`import sys, types\nsys.modules["_ergon"] = types.ModuleType("_ergon")`);
    python.runPython(
      `exec(compile(${JSON.stringify(files.run)}, "run_code.py", "exec"), sys.modules["_ergon"].__dict__)`,
    );
    python.runPython(`del sys, types`);
  }
  const json = files.memory === undefined ? python.makeMemorySnapshot().toBase64() : "";
  python.setStdout({ write: whole(stdout) });
  python.setStderr({ write: whole(stderr) });
  const run = python.runPython(`__import__("sys").modules["_ergon"].run`) as (
    code: string,
    inputs: string,
  ) => Promise<string>;
  return {
    json,
    run: async ({ code, inputs }): Promise<RealmOutcome> => {
      const outcome = await run(code, inputs);
      const text = outcome.slice(1);
      return outcome.startsWith("+") ? { ok: true, json: text } : { ok: false, error: text };
    },
  };
}

/** Only for messages: nothing is ever fetched from there. */
const BUNDLE = "file:///pyodide/";

/** Evaluated as plain functions: a module loader would first look through more than a megabyte for imports. */
function modulesOf({ loader, glue }: PythonFiles): PyodideModules {
  const glueBody = glue
    .replaceAll("import.meta.url", JSON.stringify(`${BUNDLE}pyodide.asm.mjs`))
    .replace(/export default (\w+);\s*$/, "return $1;");
  const loaderBody = loader.replace(/export\{(\w+) as loadPyodide,\w+ as version\};?/, "return $1;");
  return { loadPyodide: evaluate(loaderBody) as PyodideModules["loadPyodide"], glue: evaluate(glueBody) };
}

/** The modules' own text, in an isolate that may do nothing: no worse than importing them. */
function evaluate(body: string): unknown {
  const { constructor: FunctionOf } = evaluate as unknown as {
    readonly constructor: new (code: string) => () => unknown;
  };
  return new FunctionOf(body)();
}

/** For the time of the start, what would be fetched is answered from memory. */
function serveFiles({ wasm, stdlib }: PythonFiles): () => void {
  const { fetch } = globalThis;
  const { instantiateStreaming } = WebAssembly;
  globalThis.fetch = () => Promise.resolve({ ok: true, arrayBuffer: () => Promise.resolve(stdlib) } as never);
  WebAssembly.instantiateStreaming = async (_, imports) => ({
    module: wasm,
    instance: await WebAssembly.instantiate(wasm, imports),
  });
  return () => {
    globalThis.fetch = fetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
  };
}

function whole(write: Write): Write {
  return (bytes) => {
    for (let at = 0; at < bytes.length;) at += write(bytes.subarray(at));
    return bytes.length;
  };
}
