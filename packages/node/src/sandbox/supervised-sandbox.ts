import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { type Clock, isErgonError, type Logger, type Sandbox } from "@ergon/core";
import { sandboxError } from "@ergon/core/schema";
import { newSecret } from "../tokens/secret.ts";
import { createRemoteSandbox } from "./remote-sandbox.ts";

/** A service that does not listen after this long will not. */
const START_MS = 60_000;
/** A service that was told to end gets this long before it is killed. */
const END_MS = 5_000;
const STDERR_CHARS = 4_000;

export type SupervisedOptions = {
  /** Starts the service: it prints `ready URL`, takes its token from ERGON_SANDBOX_TOKEN and ends with its stdin. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly logger: Logger;
};

type Service = { readonly child: ChildProcess; readonly sandbox: Omit<Sandbox, "close"> };

/** A sandbox service of our own: started when it is first needed, started again when it died, ended with us. */
export function createSupervisedSandbox(options: SupervisedOptions): Sandbox {
  const { clock, logger } = options;
  let service: Promise<Service> | undefined;
  let isClosed = false;

  return {
    execute: async (request, more) => {
      const { sandbox, child } = await running();
      try {
        return await sandbox.execute(request, more);
      } catch (thrown) {
        if (isClosed || !isLost(thrown)) throw thrown;
        // Code in a sandbox changes nothing outside of it: what was lost with the service may run again.
        child.kill("SIGKILL");
        await exitOf(child);
        return (await running()).sandbox.execute(request, more);
      }
    },
    profiles: async () => (await running()).sandbox.profiles(),
    close: async () => {
      isClosed = true;
      const last = await service?.catch(() => undefined);
      if (last === undefined) return;
      last.child.stdin?.end();
      const stopTimer = clock.after(END_MS, () => void last.child.kill("SIGKILL"));
      await exitOf(last.child);
      stopTimer();
    },
  };

  function running(): Promise<Service> {
    if (isClosed) return Promise.reject(sandboxError("sandbox_unavailable", "The sandbox is closed."));
    if (service !== undefined) return service;
    const started = startService(options);
    service = started;
    const forget = (): void => {
      if (service === started) service = undefined;
    };
    started.then(({ child }) => {
      void exitOf(child).then(() => {
        forget();
        if (!isClosed) logger.warn({ pid: child.pid }, "The sandbox service ended; the next call starts it again.");
      });
    }, forget);
    return started;
  }
}

function startService({ command: [file, ...args], env, clock }: SupervisedOptions): Promise<Service> {
  const token = newSecret();
  // Its stdin is the thread by which it hangs: it ends when we do, however we end.
  const child = spawn(file, args, { env: { ...env, ERGON_SANDBOX_TOKEN: token }, stdio: "pipe", windowsHide: true });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(-STDERR_CHARS);
  });
  child.stdin.on("error", () => child.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      stopTimer();
      child.kill("SIGKILL");
      const message = `The sandbox service did not start: ${reason}. ${said}`.trimEnd();
      reject(sandboxError("sandbox_unavailable", message, { retryable: true }));
    };
    const stopTimer = clock.after(START_MS, () => fail(`it was not ready within ${START_MS / 1_000} s`));
    child.once("error", ({ message }) => fail(message));
    child.once("exit", (code, signal) => fail(`it ended with ${signal ?? `code ${String(code)}`}`));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [, url] = /^ready (http:\S+)$/.exec(line) ?? [];
      if (url === undefined) return;
      stopTimer();
      resolve({ child, sandbox: createRemoteSandbox({ url, token }) });
    });
  });
}

function isLost(thrown: unknown): boolean {
  return isErgonError(thrown) && thrown.code === "sandbox_unavailable" && thrown.details?.["lost"] === true;
}

function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once("exit", () => resolve()));
}
