// A database that is gone, or older than what this user's Ergon opened last, is not taken for a new folder.
import { cpSync, rmSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ergon } from "./ergon.ts";
import { ownFolder } from "./own-folder.ts";

const PATIENCE = { timeout: 60_000 };

describe("a data folder that had sessions", PATIENCE, () => {
  const folder = ownFolder();
  const data = () => join(folder.path, "data");
  const call = () =>
    ergon(["tools", "call", "demo::add", "--args", `{"a":1,"b":2}`, "--data", data()], { cwd: folder.path });

  it.each([
    ["gone", (path: string) => rmSync(path)],
    ["empty", (path: string) => truncateSync(path, 0)],
  ])("is refused when its database is %s", async (_, damage) => {
    expect((await call()).code).toBe(0);
    damage(join(data(), "state.db"));
    const { code, err } = await call();
    expect(code).toBe(1);
    expect(err).toMatch(/state\.db is missing or empty, and this folder had sessions\. Restore the data folder/);
  });

  it("is used with a warning when an older database is put back, and begins anew when it is removed whole", async () => {
    await call();
    cpSync(join(data(), "state.db"), join(folder.path, "older.db"));
    await call();
    expect((await call()).err).toBe("");
    cpSync(join(folder.path, "older.db"), join(data(), "state.db"));
    const older = await call();
    expect(older.code).toBe(0);
    expect(older.err).toContain("The database is older than the one that was opened here last");
    rmSync(data(), { recursive: true });
    expect(await call()).toMatchObject({ code: 0, err: "" });
  });
});
