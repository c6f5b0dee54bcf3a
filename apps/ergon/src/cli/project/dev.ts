import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, type FSWatcher, watch } from "node:fs";
import { PROJECT_FILE } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import type { GlobalFlags } from "../command-group.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

/** Editors write a file in several steps. */
const SETTLE_MS = 200;
const IGNORED = /(^|[\\/])(node_modules|\.[^\\/]+)([\\/]|$)/;

export type DevOptions = { readonly port?: string; readonly argv: GlobalFlags };

/**
 * Runs `ergon serve --live` and starts it anew when a file of the project changes. A restart is safe at any moment:
 * runs continue where they were.
 */
export async function develop(context: CommandContext, options: DevOptions): Promise<ExitCode> {
  const { terminal, signal, compose, endsByStopping } = context;
  const { settings } = await compose();
  const { capabilities, mcpConfig } = settings.values;
  const child = serverProcess(options);
  const restart = settled(() => {
    terminal.note(terminal.errorColors.dim("a file changed: restarting"));
    void child.restart();
  });
  const watched = [...capabilities, mcpConfig, PROJECT_FILE].filter((path) => existsSync(path));
  const watchers = watched.map((path) => watchFiles(path, restart.soon));
  endsByStopping();
  try {
    await child.restart();
    if (!signal.aborted) await once(signal, "abort");
    return EXIT.ok;
  } finally {
    restart.cancel();
    for (const watcher of watchers) watcher.close();
    await child.stop();
  }
}

function watchFiles(path: string, changed: () => void): FSWatcher {
  return watch(path, { recursive: true }, (_, file) => {
    if (file === null || !IGNORED.test(file)) changed();
  });
}

function settled(run: () => void): { readonly soon: () => void; readonly cancel: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => clearTimeout(timer);
  return {
    cancel,
    soon: () => {
      cancel();
      timer = setTimeout(run, SETTLE_MS);
    },
  };
}

/** One server at a time: a restart waits until the one before has drained and gone. */
function serverProcess({ port, argv }: DevOptions) {
  const flags = [
    ...(argv.data === undefined ? [] : ["--data", argv.data]),
    ...(argv.capabilities ?? []).flatMap((folder) => ["--capabilities", folder]),
    ...(argv.mcpConfig === undefined ? [] : ["--mcp-config", argv.mcpConfig]),
    ...(argv.json === true ? ["--json"] : []),
  ];
  const args = [process.argv[1] ?? "", ...flags, "serve", "--live", ...(port === undefined ? [] : ["--port", port])];
  let child: ChildProcess | undefined;
  let turns: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => (turns = turns.then(work));
  const end = async (): Promise<void> => {
    const running = child;
    child = undefined;
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
    const gone = once(running, "exit");
    running.kill("SIGTERM");
    await gone;
  };
  return {
    restart: () =>
      inTurn(async () => {
        await end();
        child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: ["ignore", "inherit", "inherit"] });
      }),
    stop: () => inTurn(end),
  };
}
