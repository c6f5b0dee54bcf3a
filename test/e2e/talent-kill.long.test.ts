import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { openEmbeddedDatabase } from "@ergon/node";
import { afterAll, describe, expect, it } from "vitest";

const LIVES = process.env["ERGON_LONG"] === "1" ? 25 : 4;
const schema = join(import.meta.dirname, "../../supabase");
const writer = join(import.meta.dirname, "talent-kill/writer.fixture.ts");
const home = mkdtempSync(join(tmpdir(), "ergon-talent-kill-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Starts a writer, lets it work until `until`, and kills it; gives what it had acknowledged. */
async function killedAfter(life: string, until: (acknowledged: readonly string[]) => Promise<boolean>) {
  const child = spawn(process.execPath, [writer, home, life], { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const acknowledged: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => acknowledged.push(line));
  while (child.exitCode === null && !(await until(acknowledged))) await sleep(5);
  child.kill("SIGKILL");
  await closed;
  expect(child.signalCode).toBe("SIGKILL");
  return acknowledged;
}

async function inside<T>(look: (query: Awaited<ReturnType<typeof openEmbeddedDatabase>>["query"]) => Promise<T>) {
  const database = await openEmbeddedDatabase({ folder: join(home, "supabase"), schema });
  try {
    return await look(database.query);
  } finally {
    await database.close();
  }
}

describe("an embedded Supabase whose process is killed", { timeout: 60_000 + LIVES * 60_000 }, () => {
  it("is made anew when it was killed while it was being made", async () => {
    await killedAfter("early", async () => existsSync(join(home, "supabase/pg/PG_VERSION")));
    expect(existsSync(join(home, "supabase/ready.json"))).toBe(false);
    const [people] = await inside((query) => query("select count(*)::int as n from profiles"));
    expect(people?.["n"]).toBeGreaterThanOrEqual(60);
  });

  it("opens again with every row that was acknowledged, whenever it was killed", async () => {
    const all: string[] = [];
    for (let life = 0; life < LIVES; life += 1) {
      const wanted = 3 + 7 * life;
      all.push(...(await killedAfter(`life${String(life)}`, async (said) => said.length >= wanted)));
      const rows = await inside((query) => query("select id, length(summary) as chars from conversation_sessions"));
      const there = new Map(rows.map(({ id, chars }) => [id, chars]));
      expect(all.filter((id) => there.get(id) !== 2_000)).toEqual([]);
      // At most the one that was under way came without being acknowledged.
      expect(there.size - all.length).toBeLessThanOrEqual(life + 1);
    }
    expect(all.length).toBeGreaterThanOrEqual(LIVES * 3);
    const [people] = await inside((query) => query("select count(*)::int as n from profiles"));
    expect(people?.["n"]).toBeGreaterThanOrEqual(60);
  });
});
