import type { StateStore } from "../../src/ports/state-store.ts";

export type OpenedStore = {
  readonly store: StateStore;
  /** Closes the store and opens what it left behind; absent when it leaves nothing. */
  readonly reopen?: () => Promise<StateStore>;
};
export type OpenStore = () => Promise<OpenedStore>;
