import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { claimFolder, type FolderClaim, folderOwned, type FolderOwner, type OwnedFolder } from "./claim-folder.ts";

const root = mkdtempSync(join(tmpdir(), "ergon-owner-"));
const children = new Set<ChildProcess>();
let made = 0;

afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("the owner of a data folder", () => {
  it("is one process; another learns its pid and URL, and may follow it at once after SIGKILL", async () => {
    const folder = freshFolder();
    const { child } = await claimElsewhere(folder, "http://127.0.0.1:8000");
    const claim = await claimFolder(folder);
    expect(claim).toEqual({ kind: "owned", pid: child.pid, url: "http://127.0.0.1:8000" });
    expect(folderOwned(folder, { kind: "owned", pid: 7, url: "http://x" })).toMatchObject({
      code: "folder_owned",
      message: expect.stringContaining("owned by pid 7 at http://x") as unknown,
    });

    child.kill("SIGKILL");
    await once(child, "exit");
    const started = performance.now();
    const owner = await ownedHere(folder);
    expect(performance.now() - started).toBeLessThan(500);
    expect(serverFile(folder)).toEqual({ pid: process.pid });
    await owner.release();
  });

  it("is exactly one of many that claim at the same moment", { timeout: 30_000 }, async () => {
    const folder = freshFolder();
    const claims = await Promise.all(Array.from({ length: 4 }, () => claimElsewhere(folder)));
    const owners = claims.filter(({ claim }) => claim.kind === "owner");
    expect(owners).toHaveLength(1);
    for (const { claim } of claims)
      expect(claim).toMatchObject(claim.kind === "owner" ? {} : { pid: owners[0]?.child.pid });
  });

  it("keeps a second claim of its own process out, too", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    await owner.setUrl("http://127.0.0.1:1");
    expect(await claimFolder(folder)).toEqual({ kind: "owned", pid: process.pid, url: "http://127.0.0.1:1" });
    await owner.setUrl("http://127.0.0.1:1", "secret");
    const claim = await claimFolder(folder);
    expect(claim).toEqual({ kind: "owned", pid: process.pid, url: "http://127.0.0.1:1", token: "secret" });
    expect(statSync(join(folder, "server.json")).mode & 0o777).toBe(0o600);
    expect(JSON.stringify(folderOwned(folder, claim as OwnedFolder))).not.toContain("secret");
    await owner.setUrl(undefined);
    expect(await claimFolder(folder)).toEqual({ kind: "owned", pid: process.pid });
    await owner.release();
    const next = await ownedHere(folder);
    await next.release();
  });

  it("takes its name away when it releases the folder, and can do nothing more with it", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    await owner.release();
    await owner.release();
    expect(existsSync(join(folder, "server.json"))).toBe(false);
    await expect(owner.setUrl("http://late")).rejects.toMatchObject({ code: "store_closed" });
  });

  it("has files that only its user may read", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, "server.json")).mode & 0o777).toBe(0o600);
    await owner.release();
  });

  it.each(['{"pid":1}', '{"pid":', "[]", '{"pid":-3,"url":7}', ""])(
    "is not believed to exist because server.json says %j",
    async (text) => {
      const folder = freshFolder();
      mkdirSync(folder);
      writeFileSync(join(folder, "server.json"), text);
      const owner = await ownedHere(folder);
      expect(serverFile(folder)).toEqual({ pid: process.pid });
      await owner.release();
    },
  );

  it("that has not said who it is, is still an owner", async () => {
    const folder = freshFolder();
    const owner = await ownedHere(folder);
    rmSync(join(folder, "server.json"));
    expect(await claimFolder(folder)).toEqual({ kind: "owned" });
    expect(folderOwned(folder, { kind: "owned" }).message).toContain("owned by another process");
    await owner.release();
  });
});

describe("a folder that cannot be owned", () => {
  it("is refused when a file stands in its place", async () => {
    const file = freshFolder();
    writeFileSync(file, "");
    for (const path of [file, join(file, "inside")]) {
      await expect(claimFolder(path)).rejects.toMatchObject({ code: "store_unavailable", retryable: false });
    }
  });

  it("is refused when owner.db is not a lock", async () => {
    const folder = freshFolder();
    mkdirSync(join(folder, "owner.db"), { recursive: true });
    await expect(claimFolder(folder)).rejects.toMatchObject({ code: "store_unavailable", retryable: false });
  });

  it("is refused when this user may not write there", async () => {
    const folder = freshFolder();
    mkdirSync(folder, { mode: 0o500 });
    const refused = asOrdinaryUser(() => claimFolder(join(folder, "data")));
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

async function ownedHere(folder: string): Promise<FolderOwner> {
  const claim = await claimFolder(folder);
  if (claim.kind !== "owner") throw new Error(`owned by ${String(claim.pid)}`);
  return claim;
}

async function claimElsewhere(
  folder: string,
  url?: string,
): Promise<{ readonly child: ChildProcess; readonly claim: FolderClaim }> {
  const script = join(import.meta.dirname, "claim.fixture.ts");
  const child = spawn(process.execPath, [script, folder, ...(url === undefined ? [] : [url])], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  children.add(child);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, claim: JSON.parse(line) as FolderClaim };
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
