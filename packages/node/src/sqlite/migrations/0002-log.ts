/*
 * The newest commits are records of the log beside the database (decision 22), no longer rows of `tail`; what an earlier
 * Ergon left there is folded at the first opportunity. `log` says whose log it is and up to which record the tables have
 * everything.
 */
export const log = {
  version: 2,
  sql: `
CREATE TABLE log (
  store_id BLOB NOT NULL,
  folded INTEGER NOT NULL
) STRICT;
INSERT INTO log (store_id, folded) VALUES (randomblob(8), 0);
`,
};
