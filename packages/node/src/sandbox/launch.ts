import { basename, dirname, join, parse } from "node:path";
import { SANDBOX_LIMITS, type SandboxRequest } from "@ergon/core/schema";
import type { SandboxBundle } from "./bundle.ts";
import { type Fence, fenced } from "./fence.ts";
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
export function denoLaunch(bundle: SandboxBundle, wish: LaunchWish): Launch {
  const { command, boot } = denoCommand(bundle, wish);
  return {
    ...limited(command, wish.memoryMb),
    env: environment(bundle.keeper),
    cwd: parse(bundle.keeper).root,
    boot,
  };
}

/** The same behind a fence, where it sees its own files and those of the system's programs. */
export function fencedDenoLaunch(fence: Fence, bundle: SandboxBundle, wish: LaunchWish): Launch {
  const inside = moved(bundle);
  const snapshot = wish.snapshot === undefined ? undefined : SNAPSHOT_INSIDE;
  const { language, memoryMb } = wish;
  const { command, boot } = denoCommand(inside, {
    language,
    memoryMb,
    ...(snapshot === undefined ? {} : { snapshot }),
  });
  const behind = fenced(fence, {
    command,
    files: {
      [inside.deno]: bundle.deno,
      [dirname(inside.keeper)]: dirname(bundle.keeper),
      ...(language === "python" ? { [inside.pyodide]: bundle.pyodide } : {}),
    },
    env: environment(inside.keeper),
    limits: { processes: DENO_PROCESSES, dataMb: memoryMb + RUNTIME_MB },
    ...(snapshot === undefined ? {} : { passedFile: snapshot }),
  });
  return { ...behind, env: {}, cwd: "/", boot, ...(wish.snapshot === undefined ? {} : { passedFile: wish.snapshot }) };
}

/** The system's own CPython behind a fence. */
export function fencedPythonLaunch(fence: Fence, bundle: SandboxBundle, memoryMb: number): Launch {
  const folder = "/ergon/sandbox";
  const behind = fenced(fence, {
    command: [SYSTEM_PYTHON, "-B", "-E", "-s", `${folder}/${basename(bundle.keepPython)}`],
    files: { [folder]: dirname(bundle.keepPython) },
    env: { PATH: "/usr/bin", HOME: "/tmp", LANG: "C.UTF-8", OPENBLAS_NUM_THREADS: "2" },
    scratchMb: SCRATCH_MB,
    asFirstProcess: true,
    limits: { processes: PYTHON_PROCESSES, dataMb: memoryMb + RUNTIME_MB },
  });
  return { ...behind, env: {}, cwd: "/", boot: { realm: "" } };
}

export const SYSTEM_PYTHON = "/usr/bin/python3";
const SNAPSHOT_INSIDE = "/ergon/python.snapshot";
/** Threads count too: of Deno's own, and of the libraries that pandas brings. */
const DENO_PROCESSES = 96;
const PYTHON_PROCESSES = 48;
const SCRATCH_MB = 64;

function moved(bundle: SandboxBundle): SandboxBundle {
  const at = (path: string): string => `/ergon/sandbox/${basename(path)}`;
  return {
    ...bundle,
    deno: "/ergon/deno",
    pyodide: "/ergon/pyodide",
    keeper: at(bundle.keeper),
    realm: `file://${at(bundle.realm)}`,
    runCode: at(bundle.runCode),
  };
}

function denoCommand(bundle: SandboxBundle, { language, memoryMb, snapshot }: LaunchWish) {
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
  const python = { pyodide, runCode, ...(snapshot === undefined ? {} : { snapshot }) };
  return {
    command: [
      deno,
      "run",
      ...FENCES,
      `--allow-read=${readable.join(",")}`,
      `--v8-flags=${v8.join(",")}`,
      keeper,
    ] as const,
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
function limited(
  [command, ...args]: readonly [string, ...string[]],
  memoryMb: number,
): Pick<Launch, "command" | "args"> {
  if (process.platform !== "linux") return { command, args };
  const dataKb = (memoryMb + RUNTIME_MB) * 1024;
  return {
    command: "/bin/sh",
    // Databases in memory spill into files; writing one is an error here, not a signal.
    args: [
      "-c",
      `trap '' XFSZ && ulimit -c 0 && ulimit -f 0 && ulimit -d ${dataKb} && exec "$@"`,
      "sh",
      command,
      ...args,
    ],
  };
}

export function memoryOf({ memoryMb }: Pick<SandboxRequest, "memoryMb">): number {
  return memoryMb ?? SANDBOX_LIMITS.memoryMb.default;
}
