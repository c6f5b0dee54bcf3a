import { EXIT, type ExitCode } from "./exit-codes.ts";

/** A command that has been asked to stop gets this long to clean up. */
const CLEAN_UP_MS = 10_000;

export type InterruptOptions = {
  readonly onFirst: () => void;
  readonly forceExit: (code: ExitCode) => void;
  readonly cleanUpMs?: number;
};

export type Interrupts = {
  readonly signal: AbortSignal;
  /** The exit code that shells expect after a signal; undefined when none came. */
  readonly exitCode: () => ExitCode | undefined;
};

/** The first signal asks the command to stop, the second one (or too long a clean-up) ends the process at once. */
export function watchInterrupts({ onFirst, forceExit, cleanUpMs = CLEAN_UP_MS }: InterruptOptions): Interrupts {
  const controller = new AbortController();
  let code: ExitCode | undefined;
  const watch = (name: NodeJS.Signals, exit: ExitCode): void => {
    process.on(name, () => {
      if (code !== undefined) return forceExit(exit);
      code = exit;
      onFirst();
      controller.abort(new DOMException(`Stopped by ${name}.`, "AbortError"));
      setTimeout(() => forceExit(exit), cleanUpMs);
    });
  };
  watch("SIGINT", EXIT.interrupted);
  watch("SIGTERM", EXIT.terminated);
  return { signal: controller.signal, exitCode: () => code };
}
