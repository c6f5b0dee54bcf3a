import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { claimFolder, stateFolder } from "@ergon/node";
import { afterEach, beforeEach, expect, it } from "vitest";
import { compose } from "./compose.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-compose-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("leaves a data folder that it was still entering when it is closed", async () => {
  const data = join(folder, "data");
  const stopping = new AbortController().signal;
  const quiet = { note: () => undefined, fatal: () => undefined };
  const app = compose({ flags: { data }, home: import.meta.dirname, version: "0", stopping, ...quiet });
  const entering = app.enter({ recover: true, stays: true });
  entering.catch(() => undefined);
  while (!existsSync(join(data, "server.json"))) await setImmediate();
  await app.close();
  const claim = await claimFolder({ path: data, isNamed: true, stateFolder: stateFolder(process.env) });
  expect(claim.kind).toBe("owner");
  if (claim.kind === "owner") await claim.release();
});

it("builds for a command only what it uses, and the rest for those who ask for it", async () => {
  const data = join(folder, "data");
  const stopping = new AbortController().signal;
  const quiet = { note: () => undefined, fatal: () => undefined };
  const app = compose({ flags: { data }, home: import.meta.dirname, version: "0", stopping, ...quiet });
  try {
    const { conversations, loops, isOwner } = await app.enter({ recover: true });
    expect(isOwner).toBe(true);
    expect(existsSync(join(data, "vectors.db"))).toBe(false);
    expect(await loops.list({ owner: "first" })).toEqual([]);
    expect(existsSync(join(data, "vectors.db"))).toBe(false);
    expect(await conversations.status()).toMatchObject({ running: true });
    expect(existsSync(join(data, "vectors.db"))).toBe(true);
  } finally {
    await app.close();
  }
});
