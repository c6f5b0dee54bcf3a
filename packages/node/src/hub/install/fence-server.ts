import { basename, dirname, join, sep } from "node:path";
import type { MCPServerConfig } from "@ergon/core/hub";
import { type Fence, fenced } from "../../sandbox/fence.ts";

const LIMITS = { processes: 256, dataMb: 4_096 };
const SCRATCH_MB = 64;

/** Where it sees its own folder and Node's. */
const SERVER = "/server";
const RUNTIME = "/runtime";

/** The same server behind a fence: no network, no files but its own folder and Node's program, nothing of the environment. */
export function fencedServer(fence: Fence, config: MCPServerConfig, folder: string): MCPServerConfig {
  const { command = process.execPath, args = [], env = {} } = config;
  const inside = (path: string): string =>
    path.startsWith(`${folder}${sep}`) ? SERVER + path.slice(folder.length) : path;
  // Its folder is the user's alone: another user outside of the fence could not even see it.
  const { command: bwrap, args: fencing } = fenced(
    { ...fence, changesUser: false },
    {
      command: [join(RUNTIME, basename(command)), ...args.map(inside)],
      files: { [RUNTIME]: dirname(command), [SERVER]: folder },
      env: { ...env, HOME: "/tmp", TMPDIR: "/tmp", PATH: "/usr/bin:/bin" },
      scratchMb: SCRATCH_MB,
      limits: LIMITS,
    },
  );
  const { access: _access, ...rest } = config;
  return { ...rest, command: bwrap, args: [...fencing], env: {} };
}
