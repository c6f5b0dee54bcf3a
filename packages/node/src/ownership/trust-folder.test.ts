import { execFileSync } from "node:child_process";
import {
  chownSync,
  cpSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimFolder, type FolderOwner } from "./claim-folder.ts";
import { FORGOTTEN_AFTER_MS, homeOf, MAX_KNOWN_FOLDERS, readFolderId } from "./known-folders.ts";
import { describeFolder, MAX_ENTRIES_SHOWN, prepareFolder, trustFolder } from "./prepare-folder.ts";
import { judgeFolder } from "./trust-folder.ts";

let root: string;
let stateFolder: string;
let path: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "ergon-trust-")));
  stateFolder = join(root, "home/state/ergon");
  path = join(root, "project/.ergon");
  mkdirSync(join(root, "project"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const found = (at = path) => ({ path: at, isNamed: false, stateFolder });
const named = (at = path) => ({ path: at, isNamed: true, stateFolder });
const untrusted = (reason: string): Error =>
  expect.objectContaining({
    code: "folder_untrusted",
    details: expect.objectContaining({ reason }) as unknown,
  }) as Error;

describe("a data folder that was found", () => {
  it("is used when this user's Ergon made it", async () => {
    expect(judgeFolder(found())).toEqual({ kind: "blank" });
    await prepareFolder(found());
    const id = readFolderId(path);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(judgeFolder(found())).toEqual({ kind: "known", id });
    expect(lstatSync(path).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(path, ".gitignore"), "utf8"), "git add . leaves it out").toBe("*\n");
    expect(readdirSync(join(root, "project"))).toEqual([".ergon"]);
  });

  it("is made where an empty folder is", async () => {
    mkdirSync(path);
    await prepareFolder(found());
    expect(judgeFolder(found())).toMatchObject({ kind: "known" });
  });

  it("is known to all that start at once", async () => {
    const claims = await Promise.all(Array.from({ length: 8 }, () => claimFolder(found())));
    const owners = claims.filter((claim): claim is FolderOwner => claim.kind === "owner");
    expect(owners).toHaveLength(1);
    await owners[0]?.release();
    expect(readdirSync(join(stateFolder, "folders"))).toEqual([readFolderId(path)]);
  });

  it("is refused with the command to trust it when it came from elsewhere", () => {
    plant({ "subagent.db": "x", id: `${"0".repeat(32)}\n` });
    const before = listing(path);
    expect(() => judgeFolder(found())).toThrow(untrusted("unknown"));
    expect(() => judgeFolder(found())).toThrow(`If it is yours, run: ergon trust ${path}.`);
    expect(listing(path), "nothing is changed").toEqual(before);
  });

  it("is refused with the command to trust it when 0.1.0 made it, and used then", async () => {
    plant({ "state.db": "", token: `${"t".repeat(40)}\n` });
    expect(() => judgeFolder(found())).toThrow(untrusted("old"));
    expect(() => judgeFolder(found())).toThrow(`run: ergon trust ${path}.`);
    await trustFolder(found());
    expect(judgeFolder(found())).toMatchObject({ kind: "known" });
  });

  it("is used where it was moved, and known there from then on", async () => {
    await prepareFolder(found());
    const id = readFolderId(path);
    const moved = join(root, "elsewhere");
    renameSync(path, moved);
    expect(judgeFolder(found(moved))).toEqual({ kind: "known", id, movedFrom: path });
    const owner = await owned(found(moved));
    expect(owner.home).toMatchObject({ id, notice: expect.stringContaining(`was at ${path} before`) as unknown });
    await owner.release();
    expect(judgeFolder(found(moved))).toEqual({ kind: "known", id });
  });

  it("is used where it was restored from a copy", async () => {
    await prepareFolder(found());
    const copy = join(root, "backup");
    cpSync(path, copy, { recursive: true });
    rmSync(path, { recursive: true });
    cpSync(copy, path, { recursive: true });
    expect(judgeFolder(found())).toMatchObject({ kind: "known" });
  });

  it("is refused as a copy while the first one is there, and gets an id of its own when it is trusted", async () => {
    await prepareFolder(found());
    const id = readFolderId(path);
    const copy = join(root, "copy");
    cpSync(path, copy, { recursive: true });
    expect(() => judgeFolder(found(copy))).toThrow(untrusted("copy"));
    await trustFolder(found(copy));
    expect(readFolderId(copy)).not.toBe(id);
    expect(judgeFolder(found(copy))).toMatchObject({ kind: "known" });
    expect(judgeFolder(found())).toEqual({ kind: "known", id });
  });

  it("is not made when the state folder cannot be written", async () => {
    const place = { ...found(), stateFolder: "/dev/null/state" };
    await expect(prepareFolder(place)).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("set XDG_STATE_HOME") as unknown,
    });
    expect(readdirSync(join(root, "project"))).toEqual([]);
  });
});

describe("a data folder that was named", () => {
  it("is used without a question, whoever's id it has, and is found from then on", async () => {
    plant({ "state.db": "", id: `${"0".repeat(32)}\n` });
    await prepareFolder(named());
    expect(judgeFolder(found())).toEqual({ kind: "known", id: "0".repeat(32) });
  });

  it("is used with a fresh home, as a container's kept volume is", async () => {
    await prepareFolder(named());
    const id = readFolderId(path);
    rmSync(join(root, "home"), { recursive: true });
    const owner = await owned(named());
    expect(owner.home).toEqual({ id, folder: homeOf(stateFolder, String(id)) });
    await owner.release();
  });

  it("is used without a state folder, with a notice", async () => {
    const owner = await owned({ ...named(), stateFolder: "/dev/null/state" });
    expect(owner.home).toEqual({
      id: readFolderId(path),
      notice: expect.stringContaining("state folder /dev/null/state") as unknown,
    });
    await owner.release();
  });
});

describe.each([
  ["found", found],
  ["named", named],
])("a data folder that was %s", (_, place) => {
  it("is refused when git tracks a file of it, though Ergon made it", async () => {
    await prepareFolder(found());
    writeFileSync(join(path, "subagent.db"), "");
    const git = (...args: readonly string[]) => execFileSync("git", args, { cwd: join(root, "project") });
    git("init", "-q");
    git("add", ".");
    expect(judgeFolder(place()), "git add . leaves it out").toMatchObject({ kind: "known" });
    git("add", "-f", ".ergon/subagent.db");
    expect(() => judgeFolder(place())).toThrow(untrusted("tracked"));
    expect(() => judgeFolder(place())).toThrow(`git rm -r --cached ${path}`);
    await expect(trustFolder(place())).rejects.toThrow(untrusted("tracked"));
    git("rm", "-rq", "--cached", ".ergon");
    expect(judgeFolder(place())).toMatchObject({ kind: "known" });
  });

  it.runIf(process.geteuid?.() === 0)("is refused when another user owns it", async () => {
    await prepareFolder(found());
    chownSync(path, 65_534, 65_534);
    expect(() => judgeFolder(place())).toThrow(untrusted("not_own"));
    expect(() => judgeFolder(place())).toThrow("belongs to user 65534, not to 0");
  });

  it("is refused as a link", async () => {
    await prepareFolder(named(join(root, "real")));
    symlinkSync(join(root, "real"), path);
    expect(() => judgeFolder(place())).toThrow(untrusted("not_own"));
  });

  it.each([
    ["a link", (at: string) => symlinkSync("/etc/passwd", at)],
    ["a link to nothing", (at: string) => symlinkSync("/nowhere/at/all", at)],
    ["a second name of a file", (at: string) => linkSync(join(root, "file"), at)],
    ["a pipe", (at: string) => execFileSync("mkfifo", [at])],
  ])("is refused with %s in it, whatever its name", async (_kind, make) => {
    await prepareFolder(found());
    writeFileSync(join(root, "file"), "");
    for (const name of ["state.db-log1", "servers", "id", "owner.sock", "anything"]) {
      rmSync(join(path, name), { force: true });
      make(join(path, name));
      expect(() => judgeFolder(place()), name).toThrow(untrusted("not_own"));
      await expect(claimFolder(place()), name).rejects.toThrow(join(path, name));
      rmSync(join(path, name));
    }
  });
});

describe("the folders that are known", () => {
  it("are forgotten when they are gone and have not been used for a month", async () => {
    const at = (name: string) => join(root, "project", name);
    for (const name of ["old", "gone", "kept"]) await prepareFolder(named(at(name)));
    const [old, gone, kept] = ["old", "gone", "kept"].map((name) => String(readFolderId(at(name))));
    for (const name of ["old", "gone"]) rmSync(at(name), { recursive: true });
    const longAgo = new Date(Date.now() - FORGOTTEN_AFTER_MS - 1_000);
    for (const id of [old, kept]) utimesSync(join(homeOf(stateFolder, String(id)), "folder.json"), longAgo, longAgo);
    await prepareFolder(named(at("new")));
    const ids = readdirSync(join(stateFolder, "folders"));
    expect(new Set(ids)).toEqual(new Set([gone, kept, readFolderId(at("new"))]));
  });

  it("are at most so many; those that are gone make room", async () => {
    for (let n = 0; n < MAX_KNOWN_FOLDERS; n += 1) {
      const home = homeOf(stateFolder, n.toString(16).padStart(32, "0"));
      mkdirSync(home, { recursive: true });
      writeFileSync(join(home, "folder.json"), JSON.stringify({ path: root, dev: "0", ino: "0" }), { mode: 0o600 });
    }
    await expect(prepareFolder(found())).rejects.toThrow(`already knows ${String(MAX_KNOWN_FOLDERS)} data folders`);
    const gone = join(homeOf(stateFolder, "0".repeat(32)), "folder.json");
    writeFileSync(gone, JSON.stringify({ path: join(root, "gone"), dev: "0", ino: "0" }));
    await expect(prepareFolder(found()), "it may be just being made").rejects.toThrow("already knows");
    utimesSync(gone, 0, 0);
    await prepareFolder(found());
    expect(judgeFolder(found())).toMatchObject({ kind: "known" });
  }, 30_000);
});

it("a folder is described with what is in it, up to a bound, and nothing of it is opened", () => {
  mkdirSync(join(path, "servers"), { recursive: true });
  symlinkSync("/etc/passwd", join(path, "a link"));
  for (let n = 0; n < MAX_ENTRIES_SHOWN; n += 1)
    writeFileSync(join(path, `state-${String(n)}`), "12345", { mode: 0o644 });
  const { count, entries } = describeFolder(path);
  expect(count).toBe(MAX_ENTRIES_SHOWN + 2);
  expect(entries).toHaveLength(MAX_ENTRIES_SHOWN);
  expect(entries.slice(0, 3)).toMatchObject([
    { name: "a link", kind: "link" },
    { name: "servers", kind: "folder" },
    { name: "state-0", kind: "file", bytes: 5, mode: "0644", uid: process.geteuid?.() },
  ]);
  expect(() => describeFolder(join(root, "nothing"))).toThrow("ENOENT");
});

function plant(files: Readonly<Record<string, string>>): void {
  mkdirSync(path);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
}

async function owned(place: Parameters<typeof claimFolder>[0]): Promise<FolderOwner> {
  const claim = await claimFolder(place);
  if (claim.kind !== "owner") throw new Error("owned by another");
  return claim;
}

function listing(folder: string): unknown {
  return readdirSync(folder).map((name) => {
    const { mode, ino, mtimeMs } = lstatSync(join(folder, name));
    return [name, mode, ino, mtimeMs];
  });
}
