import type { DatabaseSchema } from "./open-database.ts";

/*
 * Every table of a data folder. A row can be read with `sqlite3`: columns have names, values are JSON text.
 *
 * - `owner` has one row: the epoch of the process that owns the database (owned-database.ts).
 * - Rows of a session carry the session's number, not its long id.
 * - What changes with every step (core, frames) is apart from what does not (plan, input).
 * - Event numbers are never used again: the newest event is never deleted.
 */
const TABLES = `
CREATE TABLE owner (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  epoch INTEGER NOT NULL
) STRICT;
INSERT INTO owner (one, epoch) VALUES (1, 0);

-- What was taken over from an older version, and what could not be.
CREATE TABLE migrated (
  from_version INTEGER NOT NULL,
  copy TEXT NOT NULL,
  discarded_records INTEGER NOT NULL,
  problem TEXT
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
  owner TEXT NOT NULL,
  scope TEXT NOT NULL,
  step_id TEXT,
  tool_id TEXT NOT NULL,
  effects TEXT NOT NULL,
  key TEXT NOT NULL,
  args_hash TEXT NOT NULL,
  request TEXT NOT NULL,
  started_at TEXT NOT NULL,
  state TEXT NOT NULL,
  result TEXT,
  finished_at TEXT,
  energy_units REAL NOT NULL
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
CREATE INDEX events_by_session ON events (session_n, seq) WHERE session_n IS NOT NULL;

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

CREATE TABLE approvals (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  state TEXT NOT NULL,
  sort_key TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX approvals_by_state ON approvals (state, sort_key);
CREATE INDEX approvals_by_owner ON approvals (owner, state);
CREATE INDEX approvals_by_end ON approvals (state, expires_at);

CREATE TABLE tool_grants (
  tool_id TEXT PRIMARY KEY,
  text TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE conversations (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  record TEXT NOT NULL,
  wants INTEGER NOT NULL
) STRICT;
CREATE INDEX conversations_by_owner ON conversations (owner, n);
CREATE INDEX conversations_that_want ON conversations (n) WHERE wants = 1;
CREATE INDEX conversations_open ON conversations (record ->> '$.updatedAt', n) WHERE record ->> '$.ended' IS NULL;

CREATE TABLE conversation_log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation TEXT NOT NULL,
  owner TEXT NOT NULL,
  at TEXT NOT NULL,
  body TEXT NOT NULL,
  energy TEXT NOT NULL,
  level REAL
) STRICT;
CREATE INDEX conversation_log_by_conversation ON conversation_log (conversation, seq);

CREATE TABLE received_messages (
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  conversation TEXT NOT NULL,
  PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE energy_pool (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  level REAL NOT NULL
) STRICT;

CREATE TABLE chat_messages (
  n INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  session TEXT NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  at TEXT NOT NULL,
  model TEXT,
  dimension INTEGER,
  vector BLOB
) STRICT;
CREATE INDEX chat_messages_by_session ON chat_messages (owner, session, n);

CREATE TABLE loop_owners (
  owner TEXT PRIMARY KEY,
  heard INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX loop_owners_by_heard ON loop_owners (heard);

CREATE TABLE loops (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL REFERENCES loop_owners (owner) ON DELETE CASCADE,
  id TEXT NOT NULL,
  loop_type TEXT NOT NULL,
  status TEXT NOT NULL,
  current_score INTEGER,
  iteration INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX loops_by_id ON loops (owner, id);
CREATE INDEX loops_by_owner ON loops (owner, n);

CREATE TABLE loop_scores (
  loop_n INTEGER NOT NULL REFERENCES loops (n) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  score INTEGER NOT NULL,
  PRIMARY KEY (loop_n, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE mcp_tool_invocations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation_id TEXT,
  session_id TEXT,
  tool_name TEXT NOT NULL,
  server_id TEXT NOT NULL,
  timestamp TEXT NOT NULL,
  parameters TEXT,
  result TEXT,
  result_blob TEXT,
  duration_ms REAL NOT NULL,
  energy_consumed REAL NOT NULL,
  success INTEGER NOT NULL,
  error TEXT,
  error_code TEXT
) STRICT;
CREATE INDEX invocations_by_time ON mcp_tool_invocations (timestamp);

CREATE TABLE mcp_servers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  config TEXT NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1,
  added_at TEXT NOT NULL,
  last_used TEXT,
  total_invocations INTEGER NOT NULL DEFAULT 0,
  total_failures INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE sub_agent_requests (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  ended INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX sub_agent_requests_by_end ON sub_agent_requests (ended, n);
`;

/**
 * Starts that can be sent again. A run's id whose session was deleted keeps its row, so that it is not given again; keys of
 * requests are kept for a day.
 */
const STARTS = `
CREATE TABLE runs (
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  hash TEXT NOT NULL,
  session_n INTEGER,
  ended_at TEXT,
  PRIMARY KEY (id, owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_session ON runs (session_n) WHERE session_n IS NOT NULL;

CREATE TABLE request_keys (
  n INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  at TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  start_id TEXT NOT NULL,
  answer TEXT
) STRICT;
CREATE UNIQUE INDEX request_keys_by_key ON request_keys (owner, key);
CREATE UNIQUE INDEX request_keys_by_position ON request_keys (owner, position);
CREATE INDEX request_keys_by_time ON request_keys (at);
`;

/** "Ergn" in the file's header: says whose database this is. */
export const APPLICATION_ID = 0x4572676e;

/** Ergon 0.1 wrote versions 1 and 2, which `migrate-0.1` turns into version 3. */
export const FIRST_PLAIN_VERSION = 3;

export const STATE_SCHEMA: DatabaseSchema = {
  applicationId: APPLICATION_ID,
  migrations: [
    { version: FIRST_PLAIN_VERSION, sql: TABLES },
    { version: 4, sql: STARTS },
  ],
};
export const SCHEMA_VERSION = Math.max(...STATE_SCHEMA.migrations.map(({ version }) => version));
