import { dirname, join, parse } from "node:path";
import { SANDBOX_LIMITS, type SandboxRequest } from "@ergon/core";
import type { SandboxBundle } from "./bundle.ts";
import type { Launch } from "./runtime.ts";

/** What a runtime of Deno reserves for itself, over what its code may take: heaps, stacks and the files of python. */
const RUNTIME_MB = 2_048;
/** Of WebAssembly. */
const PAGES_PER_MB = 16;

export type LaunchWish = {
  readonly language: SandboxRequest["language"];
  readonly memoryMb: number;
  /** A python that had started before; made when absent. */
  readonly snapshot?: string;
};

/** A Deno with no permission but to read the files that it is made of. */
export function denoLaunch(bundle: SandboxBundle, { language, memoryMb, snapshot }: LaunchWish): Launch {
  const { deno, keeper, realm, runCode, pyodide } = bundle;
  const readable = [
    dirname(keeper),
    ...(language === "python" ? [pyodide] : []),
    ...(snapshot === undefined ? [] : [snapshot]),
  ];
  const v8 = [
    `--max-old-space-size=${memoryMb}`,
    `--wasm-max-mem-pages=${memoryMb * PAGES_PER_MB}`,
    // The code could ask for flags that take its fences down.
    "--freeze-flags-after-init",
  ];
  const args = ["run", ...FENCES, `--allow-read=${readable.join(",")}`, `--v8-flags=${v8.join(",")}`, keeper];
  const python = { pyodide, runCode, ...(snapshot === undefined ? {} : { snapshot }) };
  return {
    ...limited({ command: deno, args }, memoryMb),
    env: environment(keeper),
    cwd: parse(keeper).root,
    boot: { realm, ...(language === "python" ? { python } : {}) },
  };
}

const FENCES = [
  "--quiet",
  "--no-prompt",
  "--cached-only",
  "--no-remote",
  "--no-npm",
  "--no-config",
  "--no-lock",
  "--no-check",
  "--no-code-cache",
  "--unstable-worker-options",
];

function environment(keeper: string): Record<string, string> {
  const { SystemRoot } = process.env;
  return {
    // Below a file nothing can be made: the code's web caches would else be kept on the disk, from one run to the next.
    DENO_DIR: join(keeper, "none"),
    DENO_NO_UPDATE_CHECK: "1",
    // Graphics drivers are nothing that strangers' code should talk to.
    DENO_WEBGPU_BACKEND: "none",
    NO_COLOR: "1",
    // Windows starts nothing without it.
    ...(SystemRoot === undefined ? {} : { SystemRoot }),
  };
}

/**
 * V8's flags bound what V8 counts; arrays lie outside of that. The keeper watches the whole, and on Linux the kernel
 * holds a wall behind it.
 */
function limited(run: { readonly command: string; readonly args: readonly string[] }, memoryMb: number) {
  if (process.platform !== "linux") return run;
  const dataKb = (memoryMb + RUNTIME_MB) * 1024;
  return {
    command: "/bin/sh",
    args: ["-c", `ulimit -c 0 && ulimit -d ${dataKb} && exec "$@"`, "sh", run.command, ...run.args],
  };
}

export function memoryOf({ memoryMb }: Pick<SandboxRequest, "memoryMb">): number {
  return memoryMb ?? SANDBOX_LIMITS.memoryMb.default;
}
