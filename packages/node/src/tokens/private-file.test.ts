import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isStaged, replacePrivateFile } from "./private-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-private-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("replaces a file as a whole, for its owner alone", async () => {
  const path = join(folder, "server.json");
  await replacePrivateFile(path, "one");
  await replacePrivateFile(path, "two");
  expect(readFileSync(path, "utf8")).toBe("two");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["server.json"]);
});

it("leaves nothing beside the file when the disk is full", { timeout: 30_000 }, async () => {
  const path = join(folder, "server.json");
  await replacePrivateFile(path, "one");
  const script = `
    import { replacePrivateFile } from "./private-file.ts";
    await replacePrivateFile(${JSON.stringify(path)}, "two");`;
  // A limit on file sizes stands in for a full disk: every write fails.
  const limited = ["-c", 'ulimit -S -f 0; exec "$0" "$@"', process.execPath, "--input-type=module", "-e", script];
  const { status, stderr } = spawnSync("bash", limited, { cwd: import.meta.dirname, encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr).toContain("EFBIG");
  expect(readdirSync(folder)).toEqual(["server.json"]);
  expect(readFileSync(path, "utf8")).toBe("one");
});

it("tells what a process that died was writing from everything else", () => {
  expect(isStaged("server.json.0d1b2c3d-0000-4000-8000-0123456789ab")).toBe(true);
  for (const name of ["server.json", "state.db-wal", "0d1b2c3d", ".ergon-0d1b2c3d"]) expect(isStaged(name)).toBe(false);
});
