import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLogSync } from "./log-sync.ts";
import { openDatabase } from "./open-database.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-log-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("syncing the log", () => {
  it("leaves the database locked for its owner", async () => {
    const path = join(folder, "state.db");
    const db = openDatabase({ path });
    const log = createLogSync(db, path);
    db.exec("INSERT INTO cursors VALUES ('a', 'o', 1)");
    log.grew();
    await log.sync();
    await log.close();
    const other = new DatabaseSync(path);
    expect(() => other.prepare("SELECT * FROM cursors").all()).toThrow(/locked/);
    other.close();
    db.close();
  });

  it("puts everything into the database itself when the log does not sync", async () => {
    const path = join(folder, "state.db");
    const db = openDatabase({ path });
    // A log in another place than where the sync looks for it.
    const log = createLogSync(db, join(folder, "missing", "state.db"));
    db.exec("INSERT INTO cursors VALUES ('a', 'o', 1)");
    log.grew();
    await log.sync();
    expect(statSync(`${path}-wal`).size).toBe(0);
    await log.close();
    db.close();
  });

  it("says so when the database does not take it either", async () => {
    const path = join(folder, "state.db");
    const db = openDatabase({ path });
    const log = createLogSync(db, join(folder, "missing", "state.db"));
    db.close();
    log.grew();
    await expect(log.sync()).rejects.toMatchObject({ code: "store_unavailable" });
    await log.close();
  });
});
