import { chownSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { checkOwnDatabase, checkOwnFile } from "./own-file.ts";

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
