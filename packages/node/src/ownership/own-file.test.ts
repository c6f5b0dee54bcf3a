import { chownSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { checkOwnDatabase, checkOwnFile, foreignEntry } from "./own-file.ts";

const root = mkdtempSync(join(tmpdir(), "ergon-own-file-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;

describe("a file of a data folder", () => {
  it("may be absent or a regular file of this user", () => {
    const path = fresh();
    expect(() => checkOwnFile(path)).not.toThrow();
    writeFileSync(path, "");
    expect(() => checkOwnFile(path)).not.toThrow();
  });

  it("is refused as a symbolic link, even to nothing", () => {
    const path = fresh();
    symlinkSync(join(root, "nowhere"), path);
    expect(refused(path)).toContain(`${path} is a symbolic link`);
  });

  it("is refused with a second name", () => {
    const path = fresh();
    writeFileSync(path, "");
    linkSync(path, `${path}-too`);
    expect(refused(path)).toContain(`${path} has 2 names`);
  });

  it("is refused when it is no regular file", () => {
    const path = fresh();
    mkdirSync(path);
    expect(refused(path)).toContain(`${path} is not a regular file`);
  });

  it.runIf(process.geteuid?.() === 0)("is refused when another user owns it", () => {
    const path = fresh();
    writeFileSync(path, "");
    chownSync(path, 65_534, 65_534);
    expect(refused(path)).toContain(`${path} belongs to user 65534, not to 0`);
  });

  it("is refused below a file", () => {
    const path = fresh();
    writeFileSync(path, "");
    expect(() => checkOwnFile(join(path, "below"))).toThrow(expect.objectContaining({ code: "store_unavailable" }));
  });
});

it.each(["", "-wal", "-shm", "-journal"])("a database is refused when its file %j is a link", (suffix) => {
  const path = fresh();
  symlinkSync(join(root, "nowhere"), `${path}${suffix}`);
  expect(() => checkOwnDatabase(path)).toThrow(`${path}${suffix} is a symbolic link`);
});

it("a journal is refused that names another file: SQLite would delete that one", () => {
  const folder = mkdtempSync(join(root, "data-"));
  const found = () => foreignEntry(folder, () => false);
  writeFileSync(join(folder, "owner.db-journal"), journal(""));
  writeFileSync(join(folder, "state.db-journal"), "");
  expect(found()).toBeUndefined();
  writeFileSync(join(folder, "owner.db-journal"), journal(join(root, "victim")));
  expect(found()).toContain("owner.db-journal has SQLite delete another file");
});

/** A rollback journal of no pages, which ends in the name of a super-journal: https://www.sqlite.org/fileformat2.html */
function journal(name: string): Buffer {
  const magic = Buffer.from("d9d505f920a163d7", "hex");
  const head = Buffer.alloc(512);
  magic.copy(head);
  for (const [index, value] of [0, 1, 2, 512, 4_096].entries()) head.writeUInt32BE(value, 8 + 4 * index);
  if (name === "") return head;
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32BE(name.length);
  sizes.writeUInt32BE(
    Buffer.from(name).reduce((sum, byte) => sum + byte, 0),
    4,
  );
  return Buffer.concat([head, Buffer.alloc(4), Buffer.from(name), sizes, magic]);
}

function fresh(): string {
  made += 1;
  return join(root, String(made));
}

function refused(path: string): string {
  try {
    checkOwnFile(path);
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: "store_unavailable", retryable: false, details: { path } });
    return String(thrown);
  }
  throw new Error("It was not refused.");
}
