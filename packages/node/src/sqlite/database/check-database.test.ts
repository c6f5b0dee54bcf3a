import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkDatabase } from "./check-database.ts";
import { openOwnedDatabase } from "./owned-database.ts";

const FREE = { isFree: true };
let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-check-"));
  path = join(folder, "state.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("checking a database", () => {
  it("finds nothing wrong with none, and makes none", () => {
    expect(checkDatabase(path, FREE)).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("finds nothing wrong with a sound one, and leaves no file beside it", async () => {
    await openOwnedDatabase({ path }).close();
    expect(checkDatabase(path, FREE)).toEqual([]);
    expect(readdirSync(folder)).toEqual(["state.db"]);
  });

  it("looks at one that is in use, without taking it", async () => {
    const database = openOwnedDatabase({ path });
    database.write("a test", () => database.run("INSERT INTO cursors VALUES ('a', 'ada', 1)"));
    expect(checkDatabase(path, { isFree: false })).toEqual([]);
    database.write("a test", () => database.run("INSERT INTO cursors VALUES ('b', 'ada', 1)"));
    expect(database.health()).toBeUndefined();
    await database.close();
  });

  it.each([
    ["a broken page", (bytes: Buffer) => bytes.fill(0xff, 4_096 * 3, 4_096 * 3 + 200), /is damaged/],
    ["another file in its place", (bytes: Buffer) => bytes.fill("no database "), /not a database/],
  ])("says what is wrong with %s", async (_, damage, problem) => {
    await openOwnedDatabase({ path }).close();
    writeFileSync(path, damage(readFileSync(path)));
    expect(checkDatabase(path, FREE)).toEqual([expect.stringMatching(problem)]);
    expect(checkDatabase(path, FREE)[0]).toContain("Restore the data folder from a copy");
  });

  it("names a table or an index that is not there", async () => {
    await openOwnedDatabase({ path }).close();
    const db = new DatabaseSync(path);
    db.exec("DROP TABLE blobs; DROP INDEX events_by_session");
    db.close();
    expect(checkDatabase(path, FREE)).toEqual([expect.stringContaining("lacks events_by_session, blobs")]);
  });

  it("says what was discarded when it was migrated", async () => {
    const database = openOwnedDatabase({ path });
    database.write("a test", () => database.run("INSERT INTO migrated VALUES (2, 'before-0.2', 3, NULL)"));
    await database.close();
    expect(checkDatabase(path, FREE)).toEqual([expect.stringContaining("3 records of the log of Ergon 0.1")]);
  });

  it.each([
    ["is empty", (file: string) => truncateSync(file)],
    ["is gone", (file: string) => rmSync(file)],
  ])("leaves the WAL where it is when the database %s, and says so", async (_, damage) => {
    const database = openOwnedDatabase({ path });
    const wal = readFileSync(`${path}-wal`);
    await database.close();
    writeFileSync(`${path}-wal`, wal);
    damage(path);
    expect(checkDatabase(path, FREE)).toEqual([expect.stringMatching(/is missing or empty, but its WAL is there/)]);
    expect(readFileSync(`${path}-wal`)).toEqual(wal);
  });

  it("finds nothing wrong where there is no folder", () => {
    expect(checkDatabase(join(folder, "none", "state.db"), FREE)).toEqual([]);
  });

  it("does not follow a link", async () => {
    await openOwnedDatabase({ path: join(folder, "other.db") }).close();
    symlinkSync(join(folder, "other.db"), path);
    expect(checkDatabase(path, FREE)).toEqual([expect.stringContaining("is a symbolic link")]);
  });
});
