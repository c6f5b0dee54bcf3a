import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { packMissing, sandboxError } from "@ergon/core/schema";
import type * as Sandbox from "@ergon/sandbox";
import { isInstalled } from "../loader/optional-packages.ts";

/** The files that a runtime is made of. */
export type SandboxBundle = {
  readonly deno: string;
  readonly keeper: string;
  /** As an address. */
  readonly realm: string;
  readonly runCode: string;
  /** Runs `runCode` on a CPython of the machine. */
  readonly keepPython: string;
  readonly pyodide: string;
  /** Changes with everything that a python snapshot depends on. */
  readonly version: string;
};

/** `folder` has the children's code, as sources or as built from them. Throws `sandbox_unavailable`. */
export function findBundle(folder: string): SandboxBundle {
  const extension = existsSync(join(folder, "keeper.js")) ? "js" : "ts";
  const keeper = join(folder, `keeper.${extension}`);
  if (!existsSync(keeper)) throw missing(`the sandbox's own files are not in ${folder}`);
  const { findDeno, findPyodide } = loadPack();
  const deno = found("deno", findDeno);
  const pyodide = found("pyodide", findPyodide);
  const runCode = join(folder, "run_code.py");
  const parts = [versionIn(deno), versionIn(pyodide), readFileSync(runCode, "utf8")];
  return {
    deno: denoBinary(deno),
    keeper,
    realm: pathToFileURL(join(folder, `realm.${extension}`)).href,
    runCode,
    keepPython: join(folder, "keep_python.py"),
    pyodide: dirname(pyodide),
    version: createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16),
  };
}

/** At once rather than awaited: profiles are looked at where nothing waits. */
function loadPack(): typeof Sandbox {
  const name = "@ergon/sandbox";
  if (!isInstalled(name)) throw packMissing(name);
  return createRequire(import.meta.url)(name) as typeof Sandbox;
}

/** From the platform's package: the copy beside the wrapper is there only after an install script. */
function denoBinary(manifest: string): string {
  const { platform, arch } = process;
  const name = `@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`;
  const folder = dirname(found(name, () => createRequire(manifest).resolve(`${name}/package.json`)));
  return join(folder, platform === "win32" ? "deno.exe" : "deno");
}

function found(name: string, resolve: () => string): string {
  try {
    return resolve();
  } catch (cause) {
    throw missing(`the package ${name} is not installed; install again without --omit=optional`, cause);
  }
}

function versionIn(manifest: string): string {
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string };
  return version;
}

function missing(what: string, cause?: unknown): Error {
  return sandboxError("sandbox_unavailable", `The sandbox cannot start: ${what}.`, { cause });
}
