import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** Different questions that may be kept prepared; the store asks far fewer. */
export const MAX_PREPARED = 256;

/** What prepares statements: the database, or a part that fences it. */
export type Preparer = { readonly prepare: (sql: string) => StatementSync };

export type Reader = {
  /**
   * All rows of a query, prepared at its first use. The caller knows the columns: the schema is strict. A bare `LIMIT ?`
   * makes SQLite prepare the query anew at every use, which takes longer than most queries; `LIMIT ? + 0` does not.
   */
  readonly all: <Row>(sql: string, ...values: readonly SQLInputValue[]) => readonly Row[];
};

export function createReader(db: DatabaseSync): Reader {
  const prepared = new Map<string, StatementSync>();
  return {
    all: <Row>(sql: string, ...values: readonly SQLInputValue[]) => {
      let statement = prepared.get(sql);
      if (statement === undefined) {
        if (prepared.size >= MAX_PREPARED) prepared.clear();
        statement = db.prepare(sql);
        prepared.set(sql, statement);
      }
      return statement.all(...values) as unknown as readonly Row[];
    },
  };
}
