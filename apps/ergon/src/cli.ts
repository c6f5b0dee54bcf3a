// The command line's entry: process, signals, streams and the exit code. What a command does is in commands/.
import { Console } from "node:console";
import { setImmediate } from "node:timers/promises";
import type { ErgonError } from "@ergon/core";
import manifest from "../package.json" with { type: "json" };
import type { CommandContext } from "./cli/command-context.ts";
import { EXIT, type ExitCode, exitCodeOf } from "./cli/exit-codes.ts";
import { watchInterrupts } from "./cli/interrupts.ts";
import { printError } from "./cli/output/print-error.ts";
import { createTerminal } from "./cli/output/terminal.ts";
import { typedCommand } from "./cli/output/typed-command.ts";
import { runProgram } from "./cli/program.ts";
import type { GlobalFlags } from "./cli/command-group.ts";

const { version } = manifest;
const argv = process.argv.slice(2);
const literal = argv.indexOf("--");
const { stdout, stderr } = process;
const terminal = createTerminal(
  { stdout, stderr },
  argv.slice(0, literal < 0 ? undefined : literal).includes("--json"),
  typedCommand(process.env),
);
const interrupts = watchInterrupts({
  onFirst: () => terminal.note(terminal.errorColors.dim("stopping; once more to stop at once")),
  forceExit: (code) => process.exit(code),
});

let endsByStopping = false;
guardProcess();
const exitCode = await main();
// A turn of the event loop, so that what was left rejected is said before the end.
await setImmediate();
await terminal.flush();
// Not by itself: a tool's file may have left a timer or a connection behind.
process.exit(exitCode);

async function main(): Promise<ExitCode> {
  try {
    const exit = await runProgram(argv, { version, write: (text) => terminal.print(text.trimEnd()), context });
    return endsByStopping ? exit : (interrupts.exitCode() ?? exit);
  } catch (thrown) {
    const code = await fail(thrown);
    return interrupts.exitCode() ?? code;
  }
}

function context(flags: GlobalFlags): CommandContext {
  const { signal } = interrupts;
  const wire: CommandContext["compose"] = async (options) => {
    const [{ compose }, { checkSettings }] = await Promise.all([
      import("./compose/compose.ts"),
      import("./services/check-settings.ts"),
    ]);
    const note = (line: string): void => terminal.note(line);
    const app = compose({ flags, home: import.meta.dirname, version, stopping: signal, note, fatal });
    if (options?.badSettings === "allowed") return app;
    app.checkFolder();
    checkSettings(app.settings, terminal);
    return app;
  };
  const ends = (): void => {
    endsByStopping = true;
  };
  return { version, terminal, stdout, signal, compose: wire, endsByStopping: ends };
}

/** Not in order: nothing may be said to be done any more. */
function fatal(error: ErgonError): void {
  printError(terminal, error);
  void terminal.flush().then(() => process.exit(exitCodeOf(error.code)));
}

async function fail(thrown: unknown): Promise<ExitCode> {
  const { toErgonError } = await import("@ergon/core");
  const error = toErgonError(thrown, "internal");
  printError(terminal, error);
  if (error.code === "internal" && error.cause instanceof Error) terminal.note(error.cause.stack ?? "");
  return exitCodeOf(error.code);
}

/** Users' files run in this process: what they print or drop must not spoil the answer. */
function guardProcess(): void {
  globalThis.console = new Console({ stdout: stderr, stderr });
  Object.defineProperty(process, "stdout", { value: stderr, configurable: true });
  for (const stream of [stdout, stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      // The reader has gone (`| head`): nothing is left to say, and nobody to say it to.
      process.exit(error.code === "EPIPE" ? EXIT.ok : EXIT.failed);
    });
  }
  process.on("unhandledRejection", (reason) => {
    const message = reason instanceof Error ? reason.message : String(reason);
    terminal.warn(`a promise was left rejected: ${message}`);
  });
  process.on("uncaughtException", (error) => {
    printError(terminal, { code: "internal", message: error.message });
    void terminal.flush().then(() => process.exit(EXIT.failed));
  });
}
