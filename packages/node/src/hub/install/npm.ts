import { spawn } from "node:child_process";
import { hubError } from "@ergon/core/hub";
import { npmEnvironment } from "./npm-environment.ts";

/** An npm that is still busy after this long is ended. */
const NPM_LIMIT_MS = 120_000;
export const MAX_OUTPUT_CHARS = 4 * 1024 * 1024;
const SHOWN_CHARS = 600;

/** Its own patience is minutes; whoever asked can ask again. */
const ALWAYS = [
  "--ignore-scripts",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--fetch-retries=1",
  "--fetch-retry-mintimeout=500",
  "--fetch-retry-maxtimeout=2000",
  "--fetch-timeout=60000",
];

export type NpmOptions = {
  readonly signal: AbortSignal;
  readonly cwd: string;
};

/**
 * Runs the user's npm with an array of arguments, without a shell, without scripts, in a group of its own that ends when
 * asked. Its registry and its login are the user's; nothing else of the environment reaches it.
 */
export function runNpm(args: readonly string[], { signal, cwd }: NpmOptions): Promise<string> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // Its configuration is the user's and never that of a project around the folder.
    const child = spawn("npm", [...ALWAYS, `--prefix=${cwd}`, ...args], {
      cwd,
      env: npmEnvironment(process.env),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      windowsHide: true,
    });
    let output = "";
    let errors = "";
    const end = (): void => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It is gone already.
      }
    };
    const timer = setTimeout(end, NPM_LIMIT_MS);
    signal.addEventListener("abort", end, { once: true });
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (output.length > MAX_OUTPUT_CHARS) end();
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors = `${errors}${text}`.slice(-SHOWN_CHARS);
    });
    child.once("error", (cause) => {
      reject(hubError("install_failed", `npm could not be started: ${cause.message}`, { cause }));
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      if (signal.aborted) reject(signal.reason as Error);
      else if (output.length > MAX_OUTPUT_CHARS) reject(hubError("install_failed", tooLong(args[0] ?? "")));
      else if (code === 0) resolve(output);
      else
        reject(hubError("install_failed", `npm ${args[0] ?? ""} failed: ${errors.trim() || `code ${String(code)}`}`));
    });
  });
}

function tooLong(command: string): string {
  return `What npm ${command} says of it is over ${String(MAX_OUTPUT_CHARS)} characters long, which no honest package needs.`;
}
