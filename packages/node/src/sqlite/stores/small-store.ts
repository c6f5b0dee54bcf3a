import { storeError } from "@ergon/core/schema";
import { openOwnedDatabase, type OwnedDatabase, type OwnedDatabaseOptions } from "../database/owned-database.ts";

/** A database of its own, which is closed with the store, or the one that the stores of a data folder share. */
export type StorePlace = OwnedDatabaseOptions | { readonly database: OwnedDatabase };

/** A store beside the state's own, for what is written seldom: one transaction for each thing that is done. */
export type SmallStore = Pick<OwnedDatabase, "all" | "run"> & {
  /** `doing` says in messages what went wrong. */
  readonly acting: <T>(doing: string, act: () => T) => Promise<T>;
  readonly reading: <T>(doing: string, read: () => T) => Promise<T>;
  readonly close: () => Promise<void>;
};

export type SmallStoreOptions = {
  /** What it is, for messages. */
  readonly what: string;
  /** Each transaction survives the loss of power, not only the death of the process. */
  readonly durable?: true;
};

export function openSmallStore(place: StorePlace, { what, durable }: SmallStoreOptions): SmallStore {
  const database = "database" in place ? place.database : openOwnedDatabase(place);
  let isClosed = false;

  function checkOpen(): void {
    if (isClosed) throw storeError("store_closed", `The ${what} is closed.`);
  }

  return {
    all: database.all,
    run: database.run,
    acting: async (doing, act) => {
      checkOpen();
      const result = database.write(doing, act);
      if (durable) await database.sync();
      return result;
    },
    reading: async (doing, read) => {
      checkOpen();
      return database.read(doing, read);
    },
    close: async () => {
      isClosed = true;
      if (!("database" in place)) await database.close();
    },
  };
}
