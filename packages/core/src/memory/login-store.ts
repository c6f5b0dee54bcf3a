import type { LoginPlace, LoginStore } from "../ports/login-store.ts";
import type { Login } from "../schema/login.ts";

/** Logins that end with the process. */
export function createMemoryLoginStore(): LoginStore {
  const logins = new Map<string, Login>();
  const keyOf = ({ serverId, url }: LoginPlace) => JSON.stringify([serverId, url]);
  return {
    read: (place) => Promise.resolve(structuredClone(logins.get(keyOf(place)))),
    write: (place, login) => {
      logins.set(keyOf(place), structuredClone(login));
      return Promise.resolve();
    },
    remove: (place) => Promise.resolve(logins.delete(keyOf(place))),
  };
}
