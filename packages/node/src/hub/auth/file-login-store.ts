import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { hubError, Login, type LoginPlace, type LoginStore } from "@ergon/core/hub";
import { readPrivateFile, replacePrivateFile } from "../../tokens/private-file.ts";

export const MAX_LOGIN_BYTES = 256 * 1024;

const FOLDER = "logins";

/** One file for each login, in a folder and of a mode that nobody else reads. */
export function openFileLoginStore(dataFolder: string): LoginStore {
  const folder = join(dataFolder, FOLDER);
  // An id may be any text, and is no file name.
  const pathOf = ({ serverId, url }: LoginPlace) =>
    join(
      folder,
      `${createHash("sha256")
        .update(JSON.stringify([serverId, url]))
        .digest("hex")}.json`,
    );
  return {
    read: async (place) => {
      const path = pathOf(place);
      try {
        const text = await readPrivateFile(path, MAX_LOGIN_BYTES);
        return text === undefined ? undefined : Login.parse(JSON.parse(text));
      } catch (cause) {
        const message = `The login at "${place.serverId}" in ${path} cannot be read. Delete the file and log in again.`;
        throw hubError("login_unreadable", message, { cause, details: { serverId: place.serverId, path } });
      }
    },
    write: async (place, login) => {
      const text = JSON.stringify(login);
      if (Buffer.byteLength(text) > MAX_LOGIN_BYTES) {
        const message = `What the login at "${place.serverId}" left is larger than ${String(MAX_LOGIN_BYTES)} bytes.`;
        throw hubError("login_failed", message, { details: { serverId: place.serverId } });
      }
      await replacePrivateFile(pathOf(place), text);
    },
    remove: async (place) => {
      const path = pathOf(place);
      return rm(path).then(
        () => true,
        (thrown: unknown) => {
          if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return false;
          throw thrown;
        },
      );
    },
  };
}
