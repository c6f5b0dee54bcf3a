import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { storeError } from "@ergon/core/schema";
import { fromSqlite } from "../database/sqlite-errors.ts";

/** The databases that Ergon 0.1 kept beside state.db, each with its mark and what becomes of its tables. */
const STORES: readonly OldStore[] = [
  {
    file: "approvals.db",
    applicationId: 0x45726761,
    tables: [
      ["approvals", "approvals", "id, owner, state, sort_key, expires_at, text"],
      ["grants", "tool_grants", "tool_id, text"],
    ],
  },
  {
    file: "conversations.db",
    applicationId: 0x45726776,
    tables: [
      ["conversations", "conversations", "n, id, owner, record, wants"],
      ["log", "conversation_log", "seq, conversation, owner, at, body, energy, level"],
      ["received", "received_messages", "owner, id, conversation"],
      ["pool", "energy_pool", "one, level"],
    ],
    counted: ["conversations", "log"],
  },
  {
    file: "loops.db",
    applicationId: 0x4572676c,
    tables: [
      ["owners", "loop_owners", "owner, heard"],
      ["loops", "loops", "n, owner, id, loop_type, status, current_score, iteration, created_at"],
      ["scores", "loop_scores", "loop_n, position, score"],
    ],
    counted: ["loops"],
  },
  {
    file: "memory.db",
    applicationId: 0x45726743,
    tables: [["chat_messages", "chat_messages", "n, owner, session, role, content, at, model, dimension, vector"]],
  },
  {
    file: "hub.db",
    applicationId: 0x45726768,
    tables: [
      [
        "mcp_tool_invocations",
        "mcp_tool_invocations",
        `id, conversation_id, session_id, tool_name, server_id, timestamp, parameters, result, result_blob, duration_ms,
         energy_consumed, success, error, error_code`,
      ],
      [
        "mcp_servers",
        "mcp_servers",
        "id, name, config, enabled, added_at, last_used, total_invocations, total_failures",
      ],
    ],
    counted: ["mcp_tool_invocations"],
  },
  {
    file: "subagent.db",
    applicationId: 0x45726773,
    tables: [["requests", "sub_agent_requests", "n, id, ended, text"]],
  },
];

type OldStore = {
  readonly file: string;
  readonly applicationId: number;
  readonly tables: readonly (readonly [from: string, to: string, columns: string])[];
  /** Tables whose numbers are never used again. */
  readonly counted?: readonly string[];
};

export const STORE_FILES = STORES.map(({ file }) => file);

export const importStores = {
  /** SQLite attaches outside of transactions only. Gives what detaches them. */
  attach: (db: DatabaseSync, folder: string, isDataFolder: boolean): (() => void) => {
    const found = isDataFolder ? STORES.filter(({ file }) => existsSync(join(folder, file))) : [];
    for (const store of found) attach(db, folder, store);
    return () => {
      for (const { file } of found) db.exec(`DETACH "${file}"`);
    };
  },
  copy: (db: DatabaseSync): void => {
    const attached = new Set(
      db
        .prepare("PRAGMA database_list")
        .all()
        .map(({ name }) => String(name)),
    );
    for (const store of STORES) if (attached.has(store.file)) copy(db, store);
  },
};

function attach(db: DatabaseSync, folder: string, { file, applicationId }: OldStore): void {
  const path = join(folder, file);
  try {
    db.prepare("ATTACH ? AS ?").run(path, file);
    const found = db.prepare(`PRAGMA "${file}".application_id`).get()?.["application_id"];
    if (found === applicationId || found === 0) return;
  } catch (thrown) {
    throw unreadable(path, thrown);
  }
  throw unreadable(path);
}

function copy(db: DatabaseSync, { file, tables, counted = [] }: OldStore): void {
  const own = new Set(
    db
      .prepare(`SELECT name FROM "${file}".sqlite_schema WHERE type = 'table'`)
      .all()
      .map(({ name }) => String(name)),
  );
  for (const [from, to, columns] of tables) {
    // One that was opened and never written has no tables.
    if (!own.has(from)) continue;
    db.exec(`INSERT INTO main.${to} (${columns}) SELECT ${columns} FROM "${file}".${from}`);
    if (!counted.includes(from)) continue;
    const last = db.prepare(`SELECT seq FROM "${file}".sqlite_sequence WHERE name = ?`).get(from)?.["seq"] ?? 0;
    db.prepare("DELETE FROM main.sqlite_sequence WHERE name = ?").run(to);
    db.prepare("INSERT INTO main.sqlite_sequence (name, seq) VALUES (?, ?)").run(to, last);
  }
}

function unreadable(path: string, cause?: unknown) {
  const said = cause === undefined ? "it is a database of something else" : fromSqlite(cause, "opening it").message;
  return storeError(
    "store_corrupt",
    `${path} cannot be taken over: ${said} Nothing was changed. Restore the data folder from a copy, or move this file away to go on without it.`,
    { details: { path }, cause },
  );
}
