import type { Login } from "../schema/login.ts";

/*
 * Logins at remote MCP servers, kept between starts.
 *
 * L1  A login belongs to one server at one address: the same id at another address has none.
 * L2  What was written is read whole, by this process and by others on the same data; of two writers one wins.
 * L3  What cannot be read as a login is refused with `login_unreadable`, and never taken for "no login".
 */
export type LoginStore = {
  readonly read: (place: LoginPlace) => Promise<Login | undefined>;
  readonly write: (place: LoginPlace, login: Login) => Promise<void>;
  /** Whether there was one. */
  readonly remove: (place: LoginPlace) => Promise<boolean>;
};

export type LoginPlace = { readonly serverId: string; readonly url: string };
