/*
 * One child process that runs one piece of code, once. The child is not trusted: of what it says only marked lines are
 * read, they are bounded and checked, and time, size and its end are judged here.
 *
 * R1  `run` is called at most once, and always resolves.
 * R2  However it ends, the process is killed.
 */
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, openSync } from "node:fs";
import type { Clock, Json } from "@ergon/core";
import { jsonProblem, SANDBOX_LIMITS, sandboxError, type SandboxRequest, type SandboxResult } from "@ergon/core/schema";
import type { BootOrder, ExecuteOrder } from "./child/protocol.ts";
import { createMarkedStream, type MarkedStream } from "./marked-stream.ts";
import { KeeperLine } from "./keeper-line.ts";

/** A runtime that is not ready after this long will not be. */
const BOOT_MS = 120_000;
/** JSON text within a line of JSON: every character may take six. */
const MAX_LINE_BYTES = 6 * SANDBOX_LIMITS.outputBytes + 1_024;
/** Code that writes this much does nothing else. */
const MAX_WRITTEN_BYTES = 64 * 1024 * 1024;
const MB = 1024 * 1024;

export type Launch = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly boot: Omit<BootOrder, "token">;
  /** Handed over opened, as fd 3. */
  readonly passedFile?: string;
};

export type Runtime = {
  /** Rejects with `sandbox_unavailable` when it cannot start. */
  readonly ready: Promise<void>;
  readonly run: (request: SandboxRequest, signal: AbortSignal | undefined) => Promise<SandboxResult>;
  readonly kill: () => void;
  readonly isAlive: () => boolean;
};

export type RuntimeOptions = {
  readonly launch: Launch;
  readonly clock: Clock;
  /** Hears the parts of a snapshot, where one was ordered. */
  readonly onSnapshot?: (part: string) => void;
};

type End =
  | { readonly kind: "done"; readonly json: string }
  | { readonly kind: "failed" | "killed" | "timeout"; readonly error: string };

export function startRuntime({ launch, clock, onSnapshot }: RuntimeOptions): Runtime {
  const token = randomBytes(32).toString("hex");
  const child = startChild(launch);
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<End>();
  const errorsEnded = Promise.withResolvers<void>();
  let isReady = false;
  ready.promise.catch(() => undefined);

  const stdout = listen(child.stdout, heard);
  const stderr = listen(child.stderr, () => errorsEnded.resolve());
  const stopBootTimer = clock.after(BOOT_MS, () => notStarted(`it was not ready within ${BOOT_MS / 1_000} s`));
  child.on("error", ({ message }) => notStarted(message));
  child.on("close", (code, signal) => {
    notStarted(`it ended with ${signal ?? `code ${String(code)}`}: ${stderr.rest.text().slice(-2_000)}`);
    errorsEnded.resolve();
    ended.resolve({ kind: "killed", error: `Killed: its process ended with ${signal ?? `code ${String(code)}`}.` });
  });
  child.stdin.on("error", () => kill(child));
  child.stdin.write(`${JSON.stringify({ ...launch.boot, token } satisfies BootOrder)}\n`);

  return {
    ready: ready.promise,
    run,
    kill: () => kill(child),
    isAlive: () => child.exitCode === null && child.signalCode === null,
  };

  async function run(request: SandboxRequest, signal: AbortSignal | undefined): Promise<SandboxResult> {
    const { timeoutMs = SANDBOX_LIMITS.timeoutMs.default, memoryMb = SANDBOX_LIMITS.memoryMb.default } = request;
    const { code, inputs = null } = request;
    const startedMs = clock.monotonic();
    const onAbort = (): void => kill(child);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    const stopTimer = clock.after(timeoutMs, () => {
      ended.resolve({ kind: "timeout", error: `Timed out: it had not ended after ${timeoutMs} ms.` });
      kill(child);
    });
    const order: ExecuteOrder = { code, inputs: JSON.stringify(inputs), memoryBytes: memoryMb * MB };
    child.stdin.write(`${JSON.stringify(order)}\n`);
    const end = await ended.promise;
    const durationMs = clock.monotonic() - startedMs;
    await errorsEnded.promise;
    stopTimer();
    signal?.removeEventListener("abort", onAbort);
    kill(child);
    return resultOf(end, { stdout, stderr }, durationMs);
  }

  function listen(stream: NodeJS.ReadableStream, onLine: (line: string) => void): MarkedStream {
    const marked = createMarkedStream({
      mark: token,
      maxLineBytes: MAX_LINE_BYTES,
      maxRestBytes: SANDBOX_LIMITS.outputBytes,
      onLine,
      onOverflow: () => kill(child),
    });
    stream.on("data", (chunk: Buffer) => {
      marked.push(chunk);
      if (marked.rest.bytes() <= MAX_WRITTEN_BYTES) return;
      ended.resolve({ kind: "killed", error: `Killed: it wrote more than ${MAX_WRITTEN_BYTES / MB} MB.` });
      kill(child);
    });
    return marked;
  }

  function heard(text: string): void {
    const line = KeeperLine.safeParse(parsed(text));
    if (!line.success) return kill(child);
    switch (line.data.kind) {
      case "ready":
        isReady = true;
        stopBootTimer();
        return ready.resolve();
      case "snapshot":
        return onSnapshot?.(line.data.part);
      case "memory":
        return ended.resolve({ kind: "killed", error: "Killed: it took more memory than it may." });
      case "done":
        return ended.resolve(line.data);
      case "failed":
        notStarted(line.data.error);
        return ended.resolve(line.data);
    }
  }

  function notStarted(reason: string): void {
    stopBootTimer();
    if (isReady) return;
    ready.reject(sandboxError("sandbox_unavailable", `A sandbox could not be started: ${reason}`, { retryable: true }));
    kill(child);
  }
}

function startChild({ command, args, env, cwd, passedFile }: Launch): ChildProcessWithoutNullStreams {
  const passed = passedFile === undefined ? undefined : openSync(passedFile, "r");
  const stdio = ["pipe", "pipe", "pipe", ...(passed === undefined ? [] : [passed])] as ["pipe", "pipe", "pipe"];
  try {
    return spawn(command, args, { env, cwd, stdio, windowsHide: true });
  } finally {
    if (passed !== undefined) closeSync(passed);
  }
}

function kill(child: ChildProcess): void {
  child.kill("SIGKILL");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function resultOf(
  end: End,
  { stdout, stderr }: { readonly stdout: MarkedStream; readonly stderr: MarkedStream },
  durationMs: number,
): SandboxResult {
  const written = { stdout: stdout.rest.text(), stderr: stderr.rest.text().replace(CRASH_REPORT, "\n") };
  const truncated = stdout.rest.isCut() || stderr.rest.isCut();
  const value = end.kind === "done" ? valueOf(end.json) : { error: end.error };
  if ("value" in value) return { status: "success", ...written, returnValue: value.value, durationMs, truncated };
  const status = end.kind === "timeout" || end.kind === "killed" ? end.kind : "error";
  const gap = written.stderr === "" || written.stderr.endsWith("\n") ? "" : "\n";
  return { status, ...written, stderr: `${written.stderr}${gap}${value.error}`, durationMs, truncated };
}

/** What V8 writes when it ends the process, of no use to the code's author. */
const CRASH_REPORT = /\n+(?:<--- Last few GCs --->|#\n# Fatal )[\s\S]*$/;

/** What the child calls JSON is looked at like anything that comes from outside. */
function valueOf(json: string): { readonly value: Json } | { readonly error: string } {
  if (Buffer.byteLength(json) > SANDBOX_LIMITS.outputBytes) {
    return { error: `The return value is larger than ${SANDBOX_LIMITS.outputBytes} bytes.` };
  }
  const value = parsed(json);
  const problem = jsonProblem(value);
  return problem === undefined ? { value: value as Json } : { error: `The return value is not JSON: ${problem}.` };
}
