import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import fs, {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { lockFile } from "../sqlite/database/file-lock.ts";
import {
  claimFolder,
  type ClaimOptions,
  type FolderClaim,
  folderOwned,
  type FolderOwner,
  type OwnedFolder,
} from "./claim-folder.ts";
import { isHeld } from "./hold-folder.ts";

const root = mkdtempSync(join(tmpdir(), "ergon-owner-"));
const stateFolder = join(root, "state");
const children = new Set<ChildProcess>();
let made = 0;

afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("a new data folder", () => {
  it.runIf(process.platform === "linux")("has its name on the disk before anything in it is acknowledged", async () => {
    const folder = join(root, "above", "data");
    const { fsyncSync } = fs;
    const synced: string[] = [];
    fs.fsyncSync = (file) => {
      if (existsSync(folder)) synced.push(readlinkSync(`/proc/self/fd/${String(file)}`));
      fsyncSync(file);
    };
    syncBuiltinESMExports();
    try {
      await (await ownedHere(folder)).release();
    } finally {
      fs.fsyncSync = fsyncSync;
      syncBuiltinESMExports();
    }
    expect(synced).toContain(join(root, "above"));
  });
});

describe("the owner of a data folder", () => {
  it("is one process; another learns its pid and URL, and may follow it at once after SIGKILL", async () => {
    const folder = freshFolder();
    const { child } = await claimElsewhere(folder, "http://127.0.0.1:8000");
    expect(await claim(folder)).toMatchObject({ kind: "owned", pid: child.pid, url: "http://127.0.0.1:8000" });
    expect(folderOwned(folder, { kind: "owned", pid: 7, url: "http://x", token: "t" })).toMatchObject({
      code: "folder_owned",
      message: expect.stringContaining("owned by pid 7 at http://x. Work through it") as unknown,
    });

    child.kill("SIGKILL");
    await once(child, "exit");
    const started = performance.now();
    const owner = await ownedHere(folder);
    expect(performance.now() - started).toBeLessThan(500);
    expect(serverFile(folder)).toMatchObject({ pid: process.pid });
    await owner.release();
  });

  it("is exactly one of many that claim at the same moment", { timeout: 30_000 }, async () => {
    const folder = freshFolder();
    const claims = await Promise.all(Array.from({ length: 4 }, () => claimElsewhere(folder)));
    expectOneOwner(claims);
  });

  it("is exactly one of many that find a killed owner's socket", { timeout: 30_000 }, async () => {
    const folder = freshFolder();
    const { child } = await claimElsewhere(folder);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(existsSync(join(folder, "owner.sock"))).toBe(true);
    expectOneOwner(await Promise.all(Array.from({ length: 4 }, () => claimElsewhere(folder))));
  });

  it("stays the owner though its process reads and closes every file of the folder", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    cpSync(folder, `${folder}-copy`, { recursive: true });
    for (const name of readdirSync(folder)) if (statSync(join(folder, name)).isFile()) readFileSync(join(folder, name));
    const { claim: other } = await claimElsewhere(folder);
    expect(other).toMatchObject({ kind: "owned", pid: process.pid });
    owner.confirm();
    await owner.release();
  });

  it("keeps a second claim of its own process out, too", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    await owner.setUrl("http://127.0.0.1:1");
    const other = await claim(folder);
    expect(other).toEqual({ kind: "owned", pid: process.pid, url: "http://127.0.0.1:1", token: owner.localToken });
    expect(JSON.stringify(folderOwned(folder, other as OwnedFolder))).not.toContain(owner.localToken);
    await owner.setUrl(undefined);
    expect(await claim(folder)).toEqual({ kind: "owned", pid: process.pid });
    await owner.release();
    const next = await ownedHere(folder);
    await next.release();
  });

  it("keeps the token for others outside of the folder, and takes it away with itself", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    await owner.setUrl("http://127.0.0.1:1");
    const text = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"))
      .join();
    expect(text).toContain("http://127.0.0.1:1");
    expect(text).not.toContain(owner.localToken);
    const kept = join(String(owner.home.folder), "owner.json");
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect(readFileSync(kept, "utf8")).toContain(owner.localToken);
    await owner.release();
    expect(existsSync(kept)).toBe(false);
  });

  it("is not reached at an address that was written into server.json by another", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    await owner.setUrl("http://127.0.0.1:1");
    const { nonce } = serverFile(folder) as { nonce: string };
    writeFileSync(join(folder, "server.json"), JSON.stringify({ pid: process.pid, url: "http://evil.example", nonce }));
    expect(await claim(folder)).toMatchObject({ url: "http://127.0.0.1:1", token: owner.localToken });
    writeFileSync(
      join(folder, "server.json"),
      JSON.stringify({ pid: process.pid, url: "http://evil.example", nonce: "other" }),
    );
    expect(await claim(folder)).toEqual({ kind: "owned", pid: process.pid, url: "http://evil.example" });
    await owner.release();
  });

  it("is reached without a state folder by those who have the same first token", async () => {
    const folder = freshFolder();
    const sharedToken = "s".repeat(40);
    const owner = await ownedHere(folder, { stateFolder: "/dev/null/state", sharedToken });
    expect(owner.home).toMatchObject({ notice: expect.stringContaining("state folder /dev/null/state") as unknown });
    expect(owner.home.folder).toBe(undefined);
    await owner.setUrl("http://127.0.0.1:1");
    const elsewhere = await claim(folder, { stateFolder: "/dev/null/state", sharedToken });
    expect(elsewhere).toMatchObject({ url: "http://127.0.0.1:1", token: owner.localToken });
    expect(await claim(folder, { stateFolder: "/dev/null/state" })).not.toHaveProperty("token");
    await owner.release();
  });

  it("takes its name away when it releases the folder, and can do nothing more with it", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    await owner.release();
    await owner.release();
    expect(existsSync(join(folder, "server.json"))).toBe(false);
    expect(existsSync(join(folder, "owner.sock"))).toBe(false);
    await expect(owner.setUrl("http://late")).rejects.toMatchObject({ code: "store_closed" });
  });

  it("has files that only its user may read, also in a folder that was open to others", async () => {
    const folder = freshFolder();
    mkdirSync(folder, { mode: 0o755 });
    writeFileSync(join(folder, "plan.json"), "");
    const owner = await ownedHere(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of ["server.json", "id", "owner.db", "owner.sock"])
      expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600);
    await owner.release();
  });

  it.each(['{"pid":1}', '{"pid":', "[]", '{"pid":-3,"url":7}', ""])(
    "is not believed to exist because server.json says %j",
    async (text) => {
      const folder = freshFolder();
      mkdirSync(folder);
      writeFileSync(join(folder, "server.json"), text);
      const owner = await ownedHere(folder);
      expect(serverFile(folder)).toMatchObject({ pid: process.pid });
      await owner.release();
    },
  );

  it("that has not said who it is, is still an owner", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    rmSync(join(folder, "server.json"));
    expect(await claim(folder)).toEqual({ kind: "owned" });
    expect(folderOwned(folder, { kind: "owned" }).message).toContain("owned by another process");
    await owner.release();
    expect(await isHeld(folder)).toBe(false);
  });

  it("may be of 0.1.0, which holds the lock on owner.db for as long as it lives", async () => {
    const folder = freshFolder();
    mkdirSync(folder);
    const unlock = lockFile(join(folder, "owner.db"));
    writeFileSync(join(folder, "server.json"), JSON.stringify({ pid: process.pid, url: "http://x", token: "t" }));
    const other = await claim(folder);
    expect(other).toEqual({ kind: "owned", pid: process.pid, url: "http://x" });
    expect(folderOwned(folder, other as OwnedFolder).message).toContain("Its token is not in your state folder");
    unlock?.();
  });

  it("removes what an earlier process was writing when it died", async () => {
    const folder = freshFolder();
    await (await ownedHere(folder)).release();
    const left = join(folder, "server.json.0d1b2c3d-0000-4000-8000-0123456789ab");
    writeFileSync(left, "{");
    const owner = await ownedHere(folder);
    expect(existsSync(left)).toBe(false);
    await owner.release();
  });

  it("holds a folder whose path is longer than a socket's may be", async () => {
    const folder = join(freshFolder(), "long".repeat(20), "longer".repeat(20));
    const owner = await ownedHere(folder);
    expect((await claimElsewhere(folder)).claim).toMatchObject({ kind: "owned", pid: process.pid });
    expect(existsSync(join(folder, "owner.sock"))).toBe(true);
    await owner.release();
    expect(readdirSync(folder)).not.toContain("owner.sock");
    const { child, claim: next } = await claimElsewhere(folder);
    expect(next.kind).toBe("owner");
    child.kill("SIGKILL");
  });
});

const BESIDE = `/tmp/ergon-${String(process.geteuid?.() ?? 0)}`;

describe.runIf(process.geteuid?.() === 0 && !existsSync(BESIDE))(
  "another user's folder in the place of ours in /tmp",
  () => {
    afterEach(() => rmSync(BESIDE, { recursive: true, force: true }));

    it("holds no data folder, though a process listens in it under the name of that one", async () => {
      const folder = freshFolder();
      await (await ownedHere(folder)).release();
      const { dev, ino } = statSync(folder, { bigint: true });
      mkdirSync(BESIDE);
      const listening = createServer().listen(join(BESIDE, `${String(dev)}-${String(ino)}.sock`));
      await once(listening, "listening");
      chownSync(BESIDE, 65_534, 65_534);
      try {
        expect(await isHeld(folder)).toBe(false);
        await (await ownedHere(folder)).release();
      } finally {
        listening.close();
      }
    });

    it("keeps no data folder from being owned by being a file", async () => {
      writeFileSync(BESIDE, "");
      expect(await isHeld(mkdtempSync(join(root, "free-")))).toBe(false);
    });
  },
);

describe("an owner that lost its folder", () => {
  const lost = expect.objectContaining({ code: "ownership_lost" }) as Error;

  it("is told so at the next look, with who owns it now", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    await owner.setUrl("http://127.0.0.1:1");
    owner.confirm();
    // As if the socket had been removed by hand: a second owner is forced.
    rmSync(join(folder, "owner.sock"));
    const { child, claim: forced } = await claimElsewhere(folder);
    expect(forced.kind).toBe("owner");
    expect(() => owner.confirm()).toThrow(`pid ${String(child.pid)} owns it now`);
    await expect(owner.setUrl("http://127.0.0.1:2")).rejects.toThrow(lost);
    await owner.release();
    expect(serverFile(folder)).toMatchObject({ pid: child.pid });
    expect(await isHeld(folder), "the second owner's socket is left to it").toBe(true);
  });

  it.each([
    ["its name is removed", (folder: string) => rmSync(join(folder, "server.json"))],
    ["the folder is moved", (folder: string) => renameSync(folder, `${folder}-moved`)],
  ])("is told so when %s", async (_, change) => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    owner.confirm();
    change(folder);
    expect(() => owner.confirm()).toThrow(lost);
  });

  it("is none that only rewrote its own name", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    const text = readFileSync(join(folder, "server.json"));
    writeFileSync(join(folder, "server.json.mine"), text);
    renameSync(join(folder, "server.json.mine"), join(folder, "server.json"));
    expect(() => owner.confirm()).not.toThrow();
    await owner.release();
  });
});

describe("a folder that cannot be owned", () => {
  it("is refused when a file stands in its place", async () => {
    const file = freshFolder();
    writeFileSync(file, "");
    for (const path of [file, join(file, "inside")]) {
      await expect(claim(path)).rejects.toMatchObject({ code: "store_unavailable", retryable: false });
    }
  });

  it("is refused when owner.db is not a lock", async () => {
    const folder = freshFolder();
    mkdirSync(join(folder, "owner.db"), { recursive: true });
    await expect(claim(folder)).rejects.toMatchObject({ code: "store_unavailable", retryable: false });
  });

  it("is owned all the same when owner.db holds garbage: the file is made anew", async () => {
    const folder = freshFolder();
    mkdirSync(folder);
    writeFileSync(join(folder, "owner.db"), "garbage ".repeat(200));
    const owner = await ownedHere(folder);
    expect(statSync(join(folder, "owner.db")).size).toBe(0);
    await owner.release();
  });

  it("is refused when this user may not write there", async () => {
    const folder = freshFolder();
    mkdirSync(folder, { mode: 0o500 });
    const refused = asOrdinaryUser(() => claim(join(folder, "data")));
    await expect(refused).rejects.toMatchObject({ code: "store_unavailable", details: { errno: "EACCES" } });
  });
});

function freshFolder(): string {
  made += 1;
  return join(root, String(made));
}

function serverFile(folder: string): unknown {
  return JSON.parse(readFileSync(join(folder, "server.json"), "utf8"));
}

async function claim(path: string, options: Partial<ClaimOptions> = {}): Promise<FolderClaim> {
  return claimFolder({ path, stateFolder, isNamed: true, ...options });
}

async function ownedHere(folder: string, options?: Partial<ClaimOptions>): Promise<FolderOwner> {
  const claimed = await claim(folder, options);
  if (claimed.kind !== "owner") throw new Error(`owned by ${String(claimed.pid)}`);
  return claimed;
}

type Claimed = { readonly child: ChildProcess; readonly claim: FolderClaim };

async function claimElsewhere(folder: string, url?: string): Promise<Claimed> {
  const script = join(import.meta.dirname, "claim.fixture.ts");
  const child = spawn(process.execPath, [script, folder, stateFolder, ...(url === undefined ? [] : [url])], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.add(child);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, claim: JSON.parse(line) as FolderClaim };
}

function expectOneOwner(claims: readonly Claimed[]): void {
  const owners = claims.filter(({ claim: { kind } }) => kind === "owner");
  expect(owners).toHaveLength(1);
  for (const claimed of claims)
    expect(claimed.claim).toMatchObject(claimed.claim.kind === "owner" ? {} : { pid: owners[0]?.child.pid });
}

/** Root may write anywhere, so root steps down for a moment. */
async function asOrdinaryUser<T>(act: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return act();
  process.seteuid?.(65_534);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
  }
}
