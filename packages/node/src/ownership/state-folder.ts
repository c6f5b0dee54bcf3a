import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where this user's Ergon keeps what no data folder may bring along: which folders it made, tokens, approved servers. */
export function stateFolder(env: Readonly<Record<string, string | undefined>>): string {
  const named = env["XDG_STATE_HOME"];
  // The XDG specification says to ignore a relative path: it would depend on the working folder.
  const base = named !== undefined && isAbsolute(named) ? named : join(homedir(), ".local", "state");
  return join(base, "ergon");
}
