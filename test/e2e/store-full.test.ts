import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { openSqliteStateStore } from "@ergon/node";
import { wholeCommit } from "./store-crash/story.ts";

const home = mkdtempSync(join(tmpdir(), "ergon-full-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("a disk that takes no more", () => {
  it("is a typed refusal that leaves nothing half written, and the store works on when there is room again", async () => {
    const script = join(import.meta.dirname, "store-crash/limited.fixture.ts");
    // A limit on file sizes stands in for a full disk: writes past it fail, in blocks of 1 KiB.
    const child = spawn("bash", ["-c", 'ulimit -S -f 1500; exec "$0" "$@"', process.execPath, script, home], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const full = JSON.parse((await lines.next()).value ?? "null") as {
      readonly k: number;
      readonly neighbours: readonly string[];
    };
    const unavailable = { code: "store_unavailable", retryable: true };
    expect(full).toEqual({
      refused: unavailable,
      blob: unavailable,
      // Each is tried alone then; the first is as large as the one that was refused, the others may still fit.
      neighbours: ["rejected", expect.any(String), expect.any(String)],
      at: full.k,
      k: full.k,
    });
    expect(full.k).toBeGreaterThan(10);
    expect(readdirSync(join(home, "blobs", "tmp"))).toEqual([]);

    execFileSync("bash", ["-c", `prlimit --fsize=unlimited --pid ${String(child.pid)}`]);
    child.stdin.write("go\n");
    expect(JSON.parse((await lines.next()).value ?? "null")).toEqual({ k: full.k + 50 });
    await once(child, "close");

    const store = openSqliteStateStore({ path: join(home, "state.db") });
    expect(await wholeCommit(store, "s")).toBe(full.k + 50);
    for (const [n, id] of ["t", "u"].entries())
      expect(await wholeCommit(store, id)).toBe(full.neighbours[n + 1] === "fulfilled" ? 1 : 0);
    expect(await store.verify()).toEqual([]);
    await store.close();
  });
});
