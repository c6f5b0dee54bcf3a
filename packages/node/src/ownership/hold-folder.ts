/*
 * The lock of a data folder's owner: a listening socket. The kernel closes it with its process, however that ends; closing
 * other files of the folder does not touch it, as it would a POSIX record lock. Whether it is held is found out by connecting:
 * a socket file that outlived its process refuses.
 *
 * It lies in the data folder, so containers that share the folder see it, too. Where a socket cannot be there (its path
 * is too long and there is no /proc, or the file system has none) it lies in a folder of this user's in /tmp. On Windows it
 * is a named pipe, which the system takes away with its process.
 */
import { createHash } from "node:crypto";
import { chmodSync, closeSync, lstatSync, openSync, realpathSync, rmSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { errnoOf } from "../blobs/file-errors.ts";
import { makeFolder } from "./make-folder.ts";
import { checkOwnFolder, folderProblem, PRIVATE_FILE_MODE } from "./own-file.ts";
import { OWNER_SOCKET } from "./trust-folder.ts";

/** The shortest limit is that of macOS: 104 bytes with the zero at the end. */
const MAX_ADDRESS_BYTES = 103;
/** What file systems say that have no sockets. */
const NO_SOCKETS = new Set(["EOPNOTSUPP", "ENOTSUP", "EPERM", "EINVAL", "ENOSYS"]);

export async function isHeld(dataDir: string): Promise<boolean> {
  for (const address of addressesOf(dataDir)) {
    try {
      if (address.isOurs() && (await answers(address.path))) return true;
    } finally {
      address.close();
    }
  }
  return false;
}

/**
 * Undefined when a living process holds it. Callers take turns: of two that find the same file left behind, the second would
 * remove the first one's new socket.
 */
export async function holdFolder(dataDir: string): Promise<{ readonly release: () => Promise<void> } | undefined> {
  if (await isHeld(dataDir)) return undefined;
  for (const [index, address] of addressesOf(dataDir).entries()) {
    try {
      address.prepare();
      if (process.platform !== "win32") rmSync(address.path, { force: true });
      const server = await listen(address.path);
      const ours = inodeOf(address.path);
      // Closing removes the file by its name: one that another process put there is not ours to remove.
      return {
        release: async () => (inodeOf(address.path) === ours ? close(server).finally(address.close) : undefined),
      };
    } catch (thrown) {
      address.close();
      if (index > 0 || !NO_SOCKETS.has(errnoOf(thrown))) throw thrown;
    }
  }
  throw new Error("unreachable: the last address throws");
}

type Address = {
  readonly path: string;
  /** Whether only this user can have put a socket there. */
  readonly isOurs: () => boolean;
  readonly prepare: () => void;
  readonly close: () => void;
};

/** In the order in which they are tried. */
function addressesOf(dataDir: string): Address[] {
  const real = realpathSync(dataDir);
  if (process.platform === "win32") {
    const name = createHash("sha256").update(real.toLowerCase()).digest("hex").slice(0, 32);
    return [plain(`\\\\.\\pipe\\ergon-${name}`)];
  }
  const inside = join(real, OWNER_SOCKET);
  const beside = besideOf(real);
  if (Buffer.byteLength(inside) <= MAX_ADDRESS_BYTES) return [plain(inside), beside];
  return process.platform === "linux" ? [throughDescriptor(real), beside] : [beside];
}

function plain(path: string): Address {
  return { path, isOurs: () => true, prepare: () => undefined, close: () => undefined };
}

/** Linux names an open folder shortly. It stays open while the socket is held, whose name it is. */
function throughDescriptor(folder: string): Address {
  const file = openSync(folder, "r");
  return { ...plain(`/proc/self/fd/${String(file)}/${OWNER_SOCKET}`), close: () => closeSync(file) };
}

/**
 * Not in TMPDIR: two processes may disagree about that. Every user can take this name in /tmp first: what answers in a folder
 * of another user is no owner.
 */
function besideOf(real: string): Address {
  const { dev, ino } = lstatSync(real, { bigint: true });
  const folder = `/tmp/ergon-${String(process.geteuid?.() ?? 0)}`;
  return {
    ...plain(join(folder, `${String(dev)}-${String(ino)}.sock`)),
    isOurs: () => {
      const found = lstatSync(folder, { throwIfNoEntry: false });
      return found !== undefined && folderProblem(found) === undefined;
    },
    prepare: () => {
      makeFolder(folder);
      checkOwnFolder(folder);
    },
  };
}

async function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const settle = (isHeldNow: boolean): void => {
      socket.destroy();
      resolve(isHeldNow);
    };
    socket.once("connect", () => settle(true));
    // A full queue, or no right to connect, is still a living process.
    socket.once("error", (error) => settle(!["ENOENT", "ECONNREFUSED", "ENOTSOCK"].includes(errnoOf(error))));
  });
}

async function listen(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
  // A connection that cannot be accepted (too many open files) leaves the socket held.
  server.on("error", () => undefined);
  server.unref();
  if (process.platform !== "win32") chmodSync(path, PRIVATE_FILE_MODE);
  return server;
}

function inodeOf(path: string): bigint | undefined {
  return process.platform === "win32" ? undefined : lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}

async function close(server: Server): Promise<void> {
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
