import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claimFolder, SETTINGS, stateFolder } from "@ergon/node";
import { ergon, temporaryFolder } from "./ergon.ts";
import { type ServedFolder, serveFolder } from "./served.ts";

type Diagnosis = {
  readonly ok: boolean;
  readonly node: { readonly version: string; readonly path: string };
  readonly data: {
    readonly folder: string;
    readonly state: string;
    readonly schemaVersion?: number;
    readonly owner?: unknown;
  };
  readonly capabilities: readonly {
    readonly folder: string;
    readonly source: string;
    readonly tools: number;
    readonly plans: number;
    readonly problems: readonly unknown[];
  }[];
  readonly tools: number;
  readonly settings: readonly {
    readonly name: string;
    readonly env: string;
    readonly shown: string;
    readonly source: string;
    readonly problems: readonly unknown[];
  }[];
  readonly problems: readonly string[];
};

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

describe("doctor", () => {
  it("finds nothing wrong on a fresh machine, and shows every setting", async () => {
    const { diagnosis, code } = await examine();
    expect(code).toBe(0);
    expect(diagnosis).toMatchObject({
      ok: true,
      problems: [],
      node: { version: process.versions.node },
      data: { folder: join(folder.path, ".ergon"), state: "absent" },
      capabilities: [{ source: "builtin", problems: [] }],
    });
    expect(diagnosis.tools).toBeGreaterThanOrEqual(6);
    expect(diagnosis.settings.map(({ env }) => env)).toEqual(Object.values(SETTINGS).map(({ env }) => env));
    expect(new Set(diagnosis.settings.map(({ source }) => source))).toEqual(new Set(["default"]));
  });

  it("finds a sandbox service that does not answer", async () => {
    const env = { ERGON_SANDBOX_URL: "http://127.0.0.1:9", ERGON_SANDBOX_TOKEN: "t" };
    const { out, code } = await ergon(["doctor", "--json"], { cwd: folder.path, env });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ ok: false, sandbox: [], problems: [expect.stringContaining("sandbox")] });
  });

  it("says it to people", async () => {
    const { out, err, code } = await ergon(["doctor"], { cwd: folder.path });
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(out).toMatch(/^Ergon \d+\.\d+\.\d+ on Node \d+/);
    expect(out).toMatch(/Data folder\n.*\.ergon: not made yet/);
    expect(out).toMatch(/Sandbox\n +default +python, javascript +Deno without permissions/);
    expect(out).toMatch(/^ +hardened +(?:python, javascript|not here) +\S/m);
    expect(out).toMatch(/^ +data +(?:python|not here) +\S/m);
    expect(out).toMatch(/FSDD_LOOP_PLAN_THRESHOLD +85 +default/);
    expect(out).toMatch(/Nothing is wrong\.\n$/);
  });

  it("says where each value came from", async () => {
    folder.write({ "named/config.json": `{"loopHistory": 7}` });
    const env = { ERGON_DATA: "elsewhere", ERGON_LOG: "error", OPENAI_API_KEY: "canary-secret" };
    const { diagnosis, code } = await examine(["--data", "named"], env);
    expect(code).toBe(0);
    const shown = Object.fromEntries(
      diagnosis.settings.map(({ name, shown: value, source }) => [name, `${value} (${source})`]),
    );
    expect(shown).toMatchObject({
      data: `${join(folder.path, "named")} (flag)`,
      log: "error (environment)",
      loopHistory: "7 (file)",
      loopStore: "memory (default)",
      openaiKey: "set (from environment) (environment)",
    });
    expect(JSON.stringify(diagnosis)).not.toContain("canary");
  });

  it("shows addresses without the keys and passwords in them", async () => {
    const env = {
      SUPABASE_URL: "http://u:pwcanary@127.0.0.1:1",
      SUPABASE_SERVICE_ROLE_KEY: "rolecanary",
      ERGON_MODEL: "openai/gpt-5",
      ERGON_MODEL_URL: "http://127.0.0.1:1/v1?key=querycanary",
      ERGON_SANDBOX_URL: "http://127.0.0.1:1/?access_token=sandboxcanary",
      ERGON_SANDBOX_TOKEN: "tokencanary",
    };
    for (const args of [["doctor"], ["doctor", "--json"]]) {
      const { out, err } = await ergon(args, { cwd: folder.path, env });
      expect(out).toContain("http://[redacted]@127.0.0.1:1");
      expect(out).toContain("http://127.0.0.1:1/v1?key=[redacted]");
      expect(out + err).not.toContain("canary");
    }
  });

  it("names everything that is wrong and exits with 1", async () => {
    const env = {
      FSDD_LOOP_SPEC_THRESHOLD: "0",
      ERGON_ENGINE: "restate:http://x",
      FSDD_LOOP_X: "1",
      ERGON_PORT: "1",
      FSDD_MCP_HOST: "0.0.0.0",
    };
    const { diagnosis, code } = await examine(["--capabilities", "gone"], env);
    expect(code).toBe(1);
    const problems = diagnosis.problems.join("\n");
    expect(diagnosis.problems).toHaveLength(7);
    expect(problems).toMatch(/FSDD_LOOP_SPEC_THRESHOLD is "0"; it must be a whole number from 1 to 100/);
    expect(problems).toMatch(/the Restate engine comes in a later version/);
    expect(problems).toMatch(/FSDD_LOOP_X is not a setting/);
    expect(problems).toMatch(/ERGON_PORT is not a setting/);
    expect(problems).toMatch(/ERGON_TOKEN is not set, but/);
    expect(problems).toMatch(/ERGON_ALLOWED_HOSTS is not set, but/);
    expect(problems).toMatch(/gone: This folder does not exist/);
    const human = await ergon(["doctor"], { cwd: folder.path, env });
    expect(human.code).toBe(1);
    expect(human.out).toMatch(/6 problems\n {2}✗ /);
  });

  it("knows the data folder's schema and its owner, and leaves it alone", async () => {
    await ergon(["tools", "call", "demo::add", "--args", `{"a": 1, "b": 2}`], { cwd: folder.path });
    expect((await examine()).diagnosis.data).toMatchObject({ state: "free", schemaVersion: 4 });
    const place = { path: join(folder.path, ".ergon"), isNamed: false, stateFolder: stateFolder(process.env) };
    const claim = await claimFolder(place);
    if (claim.kind === "owner") await claim.setUrl("http://127.0.0.1:1");
    const { diagnosis, code } = await examine();
    if (claim.kind === "owner") await claim.release();
    expect(code).toBe(0);
    expect(diagnosis.data).toMatchObject({ state: "owned", owner: { pid: process.pid, url: "http://127.0.0.1:1" } });
  });

  it("says that a database is damaged, with and without an owner", { timeout: 60_000 }, async () => {
    const data = join(folder.path, ".ergon");
    const path = join(data, "state.db");
    await ergon(["tools", "call", "demo::add", "--args", `{"a": 1, "b": 2}`], { cwd: folder.path });
    expect((await examine()).code).toBe(0);
    // The root page of the journal.
    const db = new DatabaseSync(path);
    const page = Number(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'journal'").get()?.["rootpage"]);
    db.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, (page - 1) * 4_096, (page - 1) * 4_096 + 200);
    writeFileSync(path, bytes);
    const alone = await examine();
    expect(alone.code).toBe(1);
    expect(alone.diagnosis.problems).toEqual([expect.stringMatching(/state\.db is damaged.*Restore the data folder/)]);

    const served = await serveFolder(data, { cwd: folder.path });
    try {
      const { items } = (await ask(served, "/sessions")).body as { items: [{ sessionId: string }] };
      const history = await ask(served, `/sessions/${items[0].sessionId}`);
      expect(history).toMatchObject({ status: 503, body: { code: "store_corrupt", retryable: false } });
      expect(await ask(served, "/readyz")).toMatchObject({ status: 503, body: { code: "store_corrupt" } });
      const { diagnosis, code } = await examine();
      expect(code).toBe(1);
      expect(diagnosis.problems.join("\n")).toMatch(/state\.db is damaged/);
      expect(diagnosis.problems.join("\n")).toMatch(/is not ready: .*Restore the data folder/);
    } finally {
      await served.stop("SIGTERM");
    }
  });

  it("says when the data folder holds something else", async () => {
    folder.write({ ".ergon/state.db": "something else, long enough to be looked at".repeat(10) });
    // Named: one that was only found and is not trusted is not looked into.
    const { diagnosis, code } = await examine(["--data", ".ergon"]);
    expect(code).toBe(1);
    expect(diagnosis.problems).toEqual([`${join(folder.path, ".ergon/state.db")} is not a database.`]);
  });
});

async function examine(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const { out, code } = await ergon(["doctor", "--json", ...args], { cwd: folder.path, env });
  return { diagnosis: JSON.parse(out) as Diagnosis, code };
}

async function ask({ url, token }: ServedFolder, path: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  return { status: answer.status, body: await answer.json() };
}
