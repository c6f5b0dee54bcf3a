import { accessSync, constants, lstatSync, readlinkSync } from "node:fs";
import { delimiter, join } from "node:path";

/** What bubblewrap, the kernel and a user without rights keep apart. */
export type Fence = {
  readonly bwrap: string;
  /** Where its users have no rights: only root must change to one. */
  readonly changesUser: boolean;
};

export type Fenced = {
  readonly command: readonly string[];
  /** Paths of the machine, by where they are seen inside. All of them read-only. */
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** A folder in memory that can be written to, of so many megabytes. */
  readonly scratchMb?: number;
  readonly limits: { readonly processes: number; readonly dataMb: number };
  /** Its first process there: no signal from inside stops or kills that one, and all others end with it. */
  readonly asFirstProcess?: boolean;
  /** The file behind fd 3, and where it is seen inside. */
  readonly passedFile?: string;
};

const MB = 1024 * 1024;
const MAX_FILE_BYTES = 64 * MB;
const MAX_OPEN_FILES = 256;
/** Nobody's, on every Linux. */
const NOBODY = 65_534;

export function findFence(path: string = process.env["PATH"] ?? ""): Fence | undefined {
  if (process.platform !== "linux") return undefined;
  const bwrap = path
    .split(delimiter)
    .map((folder) => join(folder, "bwrap"))
    .find(isExecutable);
  return bwrap === undefined ? undefined : { bwrap, changesUser: process.getuid?.() === 0 };
}

/** The command that runs another behind the fence: no network, no other processes, no files but those named. */
export function fenced({ bwrap, changesUser }: Fence, wish: Fenced): { command: string; args: readonly string[] } {
  const { command, files, env, scratchMb, limits, asFirstProcess = false, passedFile } = wish;
  const args = [
    ...APART,
    ...(asFirstProcess ? ["--as-pid-1"] : []),
    "--uid",
    String(NOBODY),
    "--gid",
    String(NOBODY),
    "--hostname",
    "sandbox",
    "--clearenv",
    ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
    ...systemFolders(),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    ...Object.entries(files).flatMap(([inside, outside]) => ["--ro-bind", outside, inside]),
    ...(passedFile === undefined ? [] : ["--ro-bind-data", "3", passedFile]),
    ...(scratchMb === undefined ? [] : ["--size", String(scratchMb * MB), "--tmpfs", "/tmp"]),
    // What is written there would be memory that nobody counts.
    "--remount-ro",
    "/dev",
    "--remount-ro",
    "/",
    "--chdir",
    "/",
    "/usr/bin/prlimit",
    `--nproc=${limits.processes}`,
    `--data=${limits.dataMb * MB}`,
    "--core=0",
    `--fsize=${MAX_FILE_BYTES}`,
    `--nofile=${MAX_OPEN_FILES}`,
    "--",
    ...command,
  ];
  if (!changesUser) return { command: bwrap, args };
  // Limits on processes do not bind root.
  const user = ["--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups", "--", bwrap];
  return { command: "setpriv", args: [...user, ...args] };
}

/** No network, no other processes, no rights, and an end with whoever started it. */
export const APART = [
  "--unshare-all",
  "--unshare-user",
  "--disable-userns",
  "--die-with-parent",
  "--new-session",
  "--cap-drop",
  "ALL",
];

/** Programs and libraries of the machine; where they are links into /usr, the same links. */
export function systemFolders(): readonly string[] {
  const links = ["/bin", "/lib", "/lib64"].flatMap((path) => {
    const entry = lstatSync(path, { throwIfNoEntry: false });
    if (entry === undefined) return [];
    return entry.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
  });
  // Where libraries are found, and which of several was chosen.
  const choices = ["/etc/ld.so.cache", "/etc/alternatives"].flatMap((path) => ["--ro-bind-try", path, path]);
  return ["--ro-bind", "/usr", "/usr", ...links, ...choices];
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
