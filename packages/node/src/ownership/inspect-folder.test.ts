import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openSqliteStateStore } from "../sqlite/state/state-store.ts";
import { inspectFolder } from "./inspect-folder.ts";
import { stateFolder } from "./state-folder.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-inspect-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const inspect = async () => inspectFolder(folder, "state.db");

it("tells an absent folder from an empty one", async () => {
  expect(await inspectFolder(join(folder, "gone"), "state.db")).toEqual({ state: "absent" });
  expect(await inspect()).toEqual({ state: "free" });
});

it("reads the schema version of a closed store and leaves no file behind", async () => {
  await openSqliteStateStore({ path: join(folder, "state.db") }).close();
  const before = readdirSync(folder);
  expect(await inspect()).toEqual({ state: "free", schemaVersion: 4 });
  expect(readdirSync(folder)).toEqual(before);
});

it("does not know the version that only a killed process's log holds, and finds nothing wrong with it", async () => {
  const script = `
    import { openSqliteStateStore } from "./state/state-store.ts";
    openSqliteStateStore({ path: ${JSON.stringify(join(folder, "state.db"))} });
    process.kill(process.pid, "SIGKILL");`;
  const sqlite = join(import.meta.dirname, "../sqlite");
  await once(spawn(process.execPath, ["--input-type=module", "-e", script], { cwd: sqlite }), "exit");
  expect(await inspect()).toEqual({ state: "free" });
});

it("finds nothing wrong with one that was made and has no tables yet", async () => {
  write(join(folder, "state.db"), "PRAGMA journal_mode = WAL");
  expect(await inspect()).toEqual({ state: "free" });
});

it("names the owner while it lives, and not a moment longer", { timeout: 30_000 }, async () => {
  const script = `
    import { claimFolder } from "./claim-folder.ts";
    const claim = await claimFolder({
      path: ${JSON.stringify(folder)}, stateFolder: ${JSON.stringify(stateFolder(process.env))}, isNamed: true });
    await claim.setUrl("http://127.0.0.1:1");
    console.log(claim.kind);
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { cwd: import.meta.dirname });
  await once(child.stdout, "data");
  expect(await inspect()).toEqual({ state: "owned", owner: { pid: child.pid, url: "http://127.0.0.1:1" } });
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(await inspect()).toEqual({ state: "free" });
});

it.each([
  [
    "a later Ergon's",
    (file: string) => write(file, "PRAGMA application_id = 0x4572676e; PRAGMA user_version = 9999; CREATE TABLE t (a)"),
    /has schema 9999/,
  ],
  ["somebody else's", (file: string) => write(file, "CREATE TABLE t (a)"), /something else than Ergon/],
  [
    "no",
    (file: string) => writeFileSync(file, "not a database, but long enough to be taken for one".repeat(50)),
    /not a database/,
  ],
])("says what is wrong with %s database", async (_, make, problem) => {
  make(join(folder, "state.db"));
  const found = await inspect();
  expect(found.state).toBe("free");
  expect(found.problem).toMatch(problem);
});

function write(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}
