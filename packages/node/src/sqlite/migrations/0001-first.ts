/*
 * What each choice here is for: a step costs what it touches, pages above all.
 *
 * - A commit is first one row of `tail`, whole, as text: one page or two. Many of them are put into the other tables
 *   at once ("folded"): a session that moved forty times meanwhile is then written once, and a call that began and ended
 *   is one insert. A commit is in the tail or in the tables, never in both.
 * - Sessions have a number; the rows of a session carry that, not its long id.
 * - What changes with every step (core, frames) is apart from what does not (plan, input).
 * - Journal rows keep as columns only what is asked for; the rest is the JSON that the row was made of.
 * - Events and ledger rows are read in the order in which they were written, so many of them share a row. An events row
 *   is named by the last number in it; `session_events` finds those of a session. The newest is never deleted, so that
 *   no number is used again.
 */
export const first = {
  version: 1,
  sql: `
CREATE TABLE tail (
  id INTEGER PRIMARY KEY,
  commits TEXT NOT NULL
) STRICT;

CREATE TABLE sessions (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  version INTEGER NOT NULL,
  status TEXT NOT NULL,
  energy_units REAL NOT NULL,
  energy_rows INTEGER NOT NULL,
  core TEXT NOT NULL,
  frames TEXT NOT NULL
) STRICT;
CREATE INDEX sessions_by_owner ON sessions (owner, n);
CREATE INDEX sessions_by_status ON sessions (status, n);

CREATE TABLE session_inputs (
  session_n INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  plan_hash TEXT,
  input TEXT
) STRICT;

CREATE TABLE plans (
  hash TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  plan TEXT NOT NULL
) STRICT;

CREATE TABLE context (
  session_n INTEGER NOT NULL,
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  owner TEXT NOT NULL,
  implicit INTEGER NOT NULL,
  ord TEXT,
  value TEXT,
  PRIMARY KEY (session_n, scope, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE journal (
  id INTEGER PRIMARY KEY,
  session_n INTEGER NOT NULL,
  ord TEXT NOT NULL,
  step_id TEXT,
  owner TEXT NOT NULL,
  intent TEXT NOT NULL,
  outcome TEXT
) STRICT;
CREATE UNIQUE INDEX journal_by_ord ON journal (session_n, ord);
CREATE INDEX journal_by_step ON journal (session_n, step_id, ord) WHERE step_id IS NOT NULL;

CREATE TABLE energy (
  id INTEGER PRIMARY KEY,
  session_n INTEGER,
  owner TEXT NOT NULL,
  units REAL NOT NULL,
  rows INTEGER NOT NULL,
  entries TEXT NOT NULL
) STRICT;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  count INTEGER NOT NULL,
  owner TEXT,
  entries TEXT NOT NULL
) STRICT;
CREATE TABLE session_events (
  session_n INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (session_n, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  media_type TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (id, owner)
) STRICT, WITHOUT ROWID;

CREATE TABLE cursors (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
};
