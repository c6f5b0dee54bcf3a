/*
 * What each choice here is for: a step writes about six rows, and what it costs is the number of pages it touches.
 *
 * - Sessions have a number; the rows of a session carry that, not its long id.
 * - What changes with every step (core, frames) is apart from what does not (plan, input).
 * - Journal and events are appended to; only the journal has indexes. Event numbers are given by the writer, which
 *   spares the page that AUTOINCREMENT would touch; the newest event is never deleted, so that none is reused.
 * - `event_spans` finds a session's events: it notes in which runs of 128 numbers the session has any. An index would
 *   touch one more page per step.
 */
export const first = {
  version: 1,
  sql: `
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
  scope TEXT NOT NULL,
  step_id TEXT,
  owner TEXT NOT NULL,
  tool_id TEXT NOT NULL,
  effects TEXT NOT NULL,
  key TEXT NOT NULL,
  args_hash TEXT NOT NULL,
  state TEXT NOT NULL,
  energy_units REAL NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  request TEXT NOT NULL,
  result TEXT
) STRICT;
CREATE UNIQUE INDEX journal_by_ord ON journal (session_n, ord);
CREATE INDEX journal_by_step ON journal (session_n, step_id, ord) WHERE step_id IS NOT NULL;

CREATE TABLE energy (
  id INTEGER PRIMARY KEY,
  session_n INTEGER,
  owner TEXT NOT NULL,
  at TEXT NOT NULL,
  cause TEXT NOT NULL,
  units REAL NOT NULL,
  tool_id TEXT,
  reference TEXT
) STRICT;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  session_n INTEGER,
  owner TEXT NOT NULL,
  type TEXT NOT NULL,
  at TEXT NOT NULL,
  data TEXT NOT NULL
) STRICT;
CREATE TABLE event_spans (
  session_n INTEGER NOT NULL,
  span INTEGER NOT NULL,
  PRIMARY KEY (session_n, span)
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
