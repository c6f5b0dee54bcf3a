import { linkSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionCore } from "@ergon/core";
import { describe, expect, it } from "vitest";
import { type Answer, ergon } from "./ergon.ts";
import { preparePython } from "../../packages/node/src/sandbox/prepared-python.fixture.ts";
import { ownFolder } from "./own-folder.ts";
import { serveFolder } from "./served.ts";

const folder = ownFolder();

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  ergon([...args, "--data", join(folder.path, "data")], { cwd: folder.path, env });
const input = (value: unknown): string[] => ["--input", JSON.stringify(value)];
/** The session that was made last. */
const newest = async (): Promise<SessionCore> => {
  const { out } = await run(["sessions", "list", "--json"]);
  return SessionCore.parse((JSON.parse(out) as { items: unknown[] }).items[0]);
};

describe("correlation_investigation", () => {
  it("shows how far it is, asks, tests the answer in the sandbox, and leaves a page with pictures", async () => {
    await preparePython(join(folder.path, "data"));
    const asked = await run(["run", "correlation_investigation", ...input({ filePath: "shop_orders.csv" })]);
    expect(asked.code, asked.err).toBe(3);
    expect(asked.err).toContain("✓ draw_pair[0] quick-data::create_chart");
    expect(asked.out).toContain("2. discount_percent and order_value_eur rise together");
    const done = await run(["resume", (await newest()).sessionId, ...input({ finding: 2 })]);
    expect(done.code, done.err).toBe(0);
    const [, id = ""] = /blobs get ([0-9a-f]{64}) -o shop_orders-report\.html/.exec(done.out) ?? [];
    const file = join(folder.path, "report.html");
    expect(await run(["blobs", "get", id, "-o", file])).toMatchObject({ code: 0 });
    const html = readFileSync(file, "utf8");
    expect(html.match(/<img src="data:image\/svg\+xml;base64,/g)).toHaveLength(3);
    expect(html).toContain("within every channel it is the other way round");
    expect(html).toContain("It is not chance, but it turns round once the differences between the groups of channel");
  }, 180_000);

  it("writes its report without a test when none is wanted", async () => {
    await run(["run", "correlation_investigation", ...input({ filePath: "sensor_readings.jsonl" })]);
    const done = await run(["resume", (await newest()).sessionId, ...input({ finding: 0 })]);
    expect(done.code, done.err).toBe(0);
    expect(done.out).toContain("temperature_c and humidity_percent move in opposite directions");
    expect(done.err).not.toContain("execute_python_code");
  });

  it("explains what to do with data that has nothing to correlate", async () => {
    const done = await run(["run", "correlation_investigation", ...input({ filePath: "customer_survey.csv" })]);
    expect(done.code, done.err).toBe(0);
    expect(done.out).toContain("only one column of numbers");
    expect(done.out).toContain("segment_by_column");
  });

  it("keeps the data itself out of the journal", async () => {
    const marker = "48151.623";
    const rows = Array.from({ length: 300 }, (_, at) =>
      `${String(at)}.5,${at === 7 ? marker : String(at * 2)}.25`.replace(".623.25", ".623"),
    );
    folder.write({ "plain.csv": `x,y\n${rows.join("\n")}\n` });
    const done = await run([
      "run",
      "correlation_investigation",
      "--json",
      ...input({ filePath: "plain.csv", minimum: 0 }),
    ]);
    expect(done.code, done.err).toBe(3);
    const core = await newest();
    const history = await run(["sessions", "history", core.sessionId, "--json"]);
    expect(history.out).toContain("quick-data::find_correlations");
    expect(history.out).not.toContain(marker);
  });
});

describe("find_data_sources", () => {
  it("lists what is there, asks, and loads what was picked", async () => {
    folder.write({ "Sales 2026.csv": "a,b\n1,2\n", "sub/more.json": `[{"a": 1}]`, ".hidden/no.csv": "a\n1\n" });
    const asked = await run(["run", "find_data_sources", "--json", ...input({})]);
    expect(asked.code, asked.err).toBe(3);
    expect(asked.out).toContain("sales_2026");
    expect(asked.out).toContain("shop_orders.csv");
    expect(asked.out).not.toContain("no.csv");
    const core = await newest();
    const load = [join(folder.path, "Sales 2026.csv"), "sub/more.json"];
    const done = await run(["resume", core.sessionId, ...input({ load })]);
    expect(done.code, done.err).toBe(0);
    expect(done.out).toContain("sales_2026");
    expect(done.out).toContain("more");
  });
});

describe("dataset_first_look", () => {
  it("says what is in a file, what is odd, and draws it", async () => {
    const done = await run(["run", "dataset_first_look", ...input({ filePath: "sensor_readings.jsonl" })]);
    expect(done.code, done.err).toBe(0);
    expect(done.out).toContain("sensor_readings: 1440 rows, 7 columns");
    expect(done.out).not.toContain("$blob");
    const [, blob = ""] =
      /The overview with pictures: ergon blobs get (\w+) -o sensor_readings-overview\.html/.exec(done.out) ?? [];
    expect((await run(["blobs", "get", blob])).out).toContain('<img src="data:image/svg+xml');
  });
});

describe("the folders that may be read", () => {
  it("are those of ERGON_DATA_ROOTS alone, and the doctor shows them", async () => {
    folder.write({ "in/a.csv": "a\n1\n", "out/b.csv": "a\n1\n" });
    const env = { ERGON_DATA_ROOTS: join(folder.path, "in") };
    const call = (filePath: string) =>
      run(["tools", "call", "quick-data::load_dataset", "--args", JSON.stringify({ filePath })], env);
    expect(await call("a.csv")).toMatchObject({ code: 0, out: expect.stringContaining('"rowCount": 1') });
    for (const refused of [join(folder.path, "out/b.csv"), "../out/b.csv", "/etc/passwd.csv"]) {
      expect(await call(refused)).toMatchObject({ code: 1, out: "" });
    }
    expect(await call("shop_orders.csv")).toMatchObject({ code: 1, err: expect.stringContaining("There is no file") });
    const { out } = await run(["doctor", "--json"], env);
    expect(JSON.parse(out)).toMatchObject({ ok: true, dataRoots: [join(folder.path, "in")] });
    const gone = await run(["doctor", "--json"], { ERGON_DATA_ROOTS: join(folder.path, "gone") });
    expect(gone.out).toContain("is no folder");
  });

  it("hold nothing of Ergon's own for an agent: neither DATA nor the configuration, and the refusal is a 403", async () => {
    const env = { XDG_STATE_HOME: join(folder.path, "state") };
    folder.write({ "a.csv": "a\n1\n", "mcp-servers.json": JSON.stringify({ servers: [] }) });
    const server = await serveFolder(join(folder.path, "data"), { cwd: folder.path, env });
    try {
      const post = (path: string, body: unknown, token: string) =>
        fetch(new URL(path, server.url), {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify(body),
        });
      const { token } = (await (await post("/tokens", { name: "bot" }, server.token)).json()) as { token: string };
      linkSync(join(folder.path, "mcp-servers.json"), join(folder.path, "innocent.json"));
      const load = async (filePath: string) =>
        post("/tools/quick-data::load_dataset/call", { args: { filePath } }, token);
      expect((await load("a.csv")).status).toBe(200);
      for (const filePath of ["data/server.json", "mcp-servers.json", "innocent.json"]) {
        const refused = await load(filePath);
        expect([filePath, refused.status]).toEqual([filePath, 403]);
        const problem = JSON.stringify(await refused.json());
        expect(problem).toContain('"code":"path_refused"');
        expect(problem).not.toContain(folder.path);
      }
      const missing = await load("gone.csv");
      expect(missing.status).toBe(404);
      expect(await missing.text()).not.toContain(folder.path);
      const found = await (await post("/tools/quick-data::find_data_files/call", { args: {} }, token)).text();
      expect(found).toContain("a.csv");
      expect(found).not.toMatch(/server\.json|innocent\.json/);
    } finally {
      await server.stop("SIGTERM");
    }
  });

  it("a dataset outlives its file and the process that loaded it", async () => {
    folder.write({ "a.csv": "a,b\n1,2\n2,4\n3,7\n" });
    const loaded = await run(["tools", "call", "quick-data::load_dataset", "--json", "--args", `{"filePath":"a.csv"}`]);
    expect(loaded.code, loaded.err).toBe(0);
    writeFileSync(join(folder.path, "a.csv"), "gone\n");
    const answer = JSON.parse(loaded.out) as { output?: unknown };
    const dataset = answer.output ?? answer;
    const described = await run([
      "tools",
      "call",
      "quick-data::describe_dataset",
      "--args",
      JSON.stringify({ dataset }),
    ]);
    expect(described.code, described.err).toBe(0);
    expect(described.out).toContain('"sourceState": "changed"');
    expect(described.out).toContain('"rowCount": 3');
  });
});

describe("execute_python_code", () => {
  it("gets columns of a dataset as lists, and gives back what the code came to", async () => {
    await preparePython(join(folder.path, "data"));
    folder.write({ "a.csv": "n,day,who\n1,2026-01-01,Ada\n,2026-01-02,\n3,2026-01-03,Li\n" });
    const loaded = await run(["tools", "call", "quick-data::load_dataset", "--json", "--args", `{"filePath":"a.csv"}`]);
    const answer = JSON.parse(loaded.out) as { output?: unknown };
    const call = (args: object) =>
      run(["tools", "call", "quick-data::execute_python_code", "--args", JSON.stringify(args)]);
    const code = `print("hello")\n[inputs["data"], inputs["factor"] * 2]`;
    const done = await call({ dataset: answer.output ?? answer, code, inputs: { factor: 21 } });
    expect(done.code, done.err).toBe(0);
    expect(JSON.parse(done.out)).toMatchObject({
      status: "success",
      stdout: "hello\n",
      rows: 3,
      returnValue: [{ n: [1, null, 3], day: ["2026-01-01", "2026-01-02", "2026-01-03"], who: ["Ada", null, "Li"] }, 42],
    });
    const failed = await call({ code: "1 / 0" });
    expect(failed.code, failed.err).toBe(0);
    expect(JSON.parse(failed.out)).toMatchObject({ status: "error", returnValue: null, rows: 0 });
    expect(failed.out).toContain("ZeroDivisionError");
  }, 180_000);
});
