import type { SQLInputValue } from "node:sqlite";
import { storeError } from "@ergon/core";
import { type DatabaseSchema, openDatabase } from "./open-database.ts";
import { createReader } from "./reader.ts";
import { fromSqlite } from "./sqlite-errors.ts";

/** A database beside the state's own, for what is written seldom: one transaction for each thing that is done. */
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
  /** Each transaction survives the loss of power, not only the death of the process. */
  readonly durable?: true;
};

export function openSmallDatabase({ path, schema, what, durable }: SmallDatabaseOptions): SmallDatabase {
  const db = openDatabase({ path, schema });
  if (durable) db.exec("PRAGMA synchronous = FULL");
  const { all } = createReader(db);
  return {
    all,
    run: (sql, ...values) => void all(sql, ...values),
    acting: async (doing, act) => {
      if (!db.isOpen) throw storeError("store_closed", `The ${what} is closed.`);
      try {
        db.exec("BEGIN IMMEDIATE");
        const result = act();
        db.exec("COMMIT");
        return result;
      } catch (thrown) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw fromSqlite(thrown, doing);
      }
    },
    close: async () => {
      if (db.isOpen) db.close();
    },
  };
}
