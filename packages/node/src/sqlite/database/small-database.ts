import { existsSync, renameSync } from "node:fs";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { isErgonError, type Logger } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
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
  readonly logger?: Logger | undefined;
};

export function openSmallDatabase(options: SmallDatabaseOptions): SmallDatabase {
  const { what } = options;
  const db = openOrRebuild(options);
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

/** A broken copy is moved aside and begun anew: nothing is lost but time. */
function openOrRebuild({ path, schema, what, logger }: SmallDatabaseOptions): DatabaseSync {
  try {
    return openDatabase({ path, schema });
  } catch (thrown) {
    if (!isErgonError(thrown) || thrown.code !== "store_corrupt") throw thrown;
    const aside = `${path}.damaged`;
    renameSync(path, aside);
    for (const suffix of ["-wal", "-shm"])
      if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${aside}${suffix}`);
    logger?.warn({ path, aside, error: thrown.toJSON() }, `The ${what} was damaged; it is made again.`);
    return openDatabase({ path, schema });
  }
}
