import type { App } from "../workspace/app.ts";
import type { Terminal } from "./output/terminal.ts";

/** What every command gets. */
export type CommandContext = {
  readonly version: string;
  readonly terminal: Terminal;
  /** For answers alone: what users' files take for the process's stdout is its stderr. */
  readonly stdout: NodeJS.WriteStream;
  /** Aborts with the first Ctrl-C or SIGTERM; the command cleans up and ends. */
  readonly signal: AbortSignal;
  /** Being stopped is how this command ends: its own exit code counts, not the signal's. */
  readonly endsByStopping: () => void;
  /** Reads the settings and wires what the command asks for; throws `setting_invalid` unless told not to mind. */
  readonly compose: (options?: { readonly badSettings: "allowed" }) => Promise<App>;
};
