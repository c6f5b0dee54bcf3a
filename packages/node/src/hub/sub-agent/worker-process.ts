import { type ChildProcess, spawn } from "node:child_process";
import { ErgonError, type Json, type Logger } from "@ergon/core";
import { hubError } from "@ergon/core/hub";
import { Report } from "./worker.ts";
import type { WorkKind } from "./work.ts";

/** A worker that was told to end gets this long before it is killed. */
const END_MS = 5_000;

export type SubAgentWorker = {
  /** Rejects with what went wrong; with the signal's reason once the work under way has ended. */
  readonly work: (kind: WorkKind, params: Json, signal: AbortSignal) => Promise<Json>;
  readonly close: () => Promise<void>;
};

export type WorkerOptions = {
  /** Starts a process that serves orders on its channel and ends when that closes. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly logger: Logger;
};

/** The sub-agent's process: started with the first order, and again after it died. */
export function createSubAgentWorker({ command: [file, ...args], env, logger }: WorkerOptions): SubAgentWorker {
  const waiting = new Map<string, PromiseWithResolvers<Json>>();
  let child: ChildProcess | undefined;
  let count = 0;

  function started(): ChildProcess {
    if (child !== undefined) return child;
    const fresh = spawn(file, args, { env, stdio: ["ignore", "ignore", "inherit", "ipc"], windowsHide: true });
    child = fresh;
    fresh.on("message", (message) => {
      const report = Report.parse(message);
      const asked = waiting.get(report.id);
      waiting.delete(report.id);
      if ("result" in report) asked?.resolve(report.result);
      else
        asked?.reject(new ErgonError(report.error.code, report.error.message, { details: report.error.details ?? {} }));
    });
    const gone = (how: string): void => {
      if (child === fresh) child = undefined;
      for (const asked of waiting.values())
        asked.reject(hubError("install_failed", `The sub-agent's process ended: ${how}`, { retryable: true }));
      waiting.clear();
    };
    fresh.once("error", ({ message }) => gone(message));
    fresh.once("exit", (code, signal) => {
      if (waiting.size > 0) logger.warn({ code, signal }, "The sub-agent's process ended while it worked.");
      gone(signal ?? `code ${String(code)}`);
    });
    return fresh;
  }

  return {
    work: async (kind, params, signal) => {
      signal.throwIfAborted();
      const worker = started();
      const id = String(++count);
      const asked = Promise.withResolvers<Json>();
      waiting.set(id, asked);
      const cancel = (): void => void (worker.connected && worker.send({ cancel: id }));
      signal.addEventListener("abort", cancel, { once: true });
      try {
        if (worker.connected) worker.send({ do: kind, id, params });
        return await asked.promise;
      } catch (thrown) {
        signal.throwIfAborted();
        throw thrown;
      } finally {
        signal.removeEventListener("abort", cancel);
      }
    },
    close: async () => {
      const last = child;
      if (last === undefined) return;
      const exited = new Promise<void>((resolve) => last.once("exit", () => resolve()));
      if (last.connected) last.disconnect();
      const timer = setTimeout(() => last.kill("SIGKILL"), END_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}
