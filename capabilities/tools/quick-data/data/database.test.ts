import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withDatabase } from "./database.ts";

let folder: string;
const { signal } = new AbortController();

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ergon-db-")));
  for (const name of ["mine.csv", "other.csv"]) writeFileSync(join(folder, name), "a\n1\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const query = (sql: string) =>
  withDatabase({ folder, files: [join(folder, "mine.csv")], signal }, (database) => database.rows(sql));

it("a database reads the files it was given", async () => {
  expect(await query(`SELECT * FROM read_csv('${join(folder, "mine.csv")}')`)).toEqual([{ a: 1 }]);
});

describe("even a statement that slipped in", () => {
  it.each([
    ["reads no other file", () => `SELECT * FROM read_csv('${join(folder, "other.csv")}')`],
    ["reads no file by a pattern", () => `SELECT * FROM read_csv('${folder}/*.csv')`],
    ["reads no system file", () => "SELECT * FROM read_text('/etc/passwd')"],
    ["reads no file by its name alone", () => "SELECT * FROM '/etc/passwd'"],
    ["lists no folder", () => "SELECT * FROM glob('/etc/*')"],
    ["reaches no network", () => "SELECT * FROM read_csv('https://example.com/a.csv')"],
    ["installs nothing", () => "INSTALL httpfs"],
    ["loads nothing", () => "LOAD httpfs"],
    ["attaches nothing", () => `ATTACH '${join(folder, "x.db")}'`],
    ["writes nothing", () => `COPY (SELECT 1) TO '${join(folder, "out.csv")}'`],
    ["exports nothing", () => `EXPORT DATABASE '${join(folder, "out")}'`],
    ["sees no environment", () => "SELECT getenv('HOME')"],
    ["opens nothing up again", () => "SET enable_external_access = true"],
    ["allows itself nothing", () => "SET allowed_directories = ['/']"],
    ["takes no more memory", () => "SET memory_limit = '100GB'"],
  ])("%s", async (_title, sql) => {
    await expect(query(sql())).rejects.toMatchObject({ code: "query_failed" });
  });
});

it("a query ends when its call is given up", async () => {
  const controller = new AbortController();
  const endless = withDatabase({ folder, files: [], signal: controller.signal }, (database) =>
    database.rows("SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range * b.range = -1"),
  );
  setTimeout(() => controller.abort(new Error("enough")), 100);
  await expect(endless).rejects.toThrow("enough");
});
