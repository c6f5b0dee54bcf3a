import type { SQLInputValue } from "node:sqlite";
import { storeError } from "@ergon/core";
import { type DatabaseSchema, inTransaction, openDatabase } from "./open-database.ts";
import { createReader } from "./reader.ts";
import { fromSqlite } from "./sqlite-errors.ts";

/** A file beside the state for copies that can be made again: no owner, no epoch. Several processes may use it. */
export type SmallDatabase = {
  readonly all: ReturnType<typeof createReader>["all"];
  readonly run: (sql: string, ...values: readonly SQLInputValue[]) => void;
  /** `doing` says in messages what went wrong. */
  readonly acting: <T>(doing: string, act: () => T) => Promise<T>;
  readonly close: () => Promise<void>;
};

export type SmallDatabaseOptions = {
  /** A file of its own, or ":memory:". */
  readonly path: string;
  readonly schema: DatabaseSchema;
  /** What it is, for messages. */
  readonly what: string;
};

export function openSmallDatabase({ path, schema, what }: SmallDatabaseOptions): SmallDatabase {
  const db = openDatabase({ path, schema });
  const { all } = createReader(db);
  return {
    all,
    run: (sql, ...values) => void all(sql, ...values),
    acting: async (doing, act) => {
      if (!db.isOpen) throw storeError("store_closed", `The ${what} is closed.`);
      try {
        return inTransaction(db, act);
      } catch (thrown) {
        throw fromSqlite(thrown, doing);
      }
    },
    close: async () => {
      if (db.isOpen) db.close();
    },
  };
}
