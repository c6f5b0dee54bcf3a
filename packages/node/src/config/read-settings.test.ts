import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_CONFIG_BYTES } from "./config-file.ts";
import { readSettings } from "./read-settings.ts";
import type { SettingFlags, Settings } from "./resolved-setting.ts";
import { MAX_SETTING_LENGTH } from "./setting-kind.ts";
import { SETTINGS } from "./settings-table.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "ergon-settings-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

describe("where a value comes from", () => {
  it("takes the default when nothing is said", () => {
    const settings = read();
    expect(settings.problems).toEqual([]);
    expect(settings.values).toMatchObject({
      data: join(cwd, ".ergon"),
      port: 8000,
      host: "127.0.0.1",
      fsync: "effects",
    });
    expect(entry(settings, "port")).toMatchObject({ source: "default", origin: "default", shown: "8000" });
  });

  it("lets a flag beat the environment, the environment the file, and the file the default", () => {
    const data = writeConfig({ port: 1, loopHistory: 11, energyRate: 0.5 });
    const settings = read({ ERGON_DATA: data, FSDD_MCP_PORT: "2", ERGON_LOOP_HISTORY: "12" }, { port: "3" });
    expect(settings.problems).toEqual([]);
    expect(settings.values).toMatchObject({ port: 3, loopHistory: 12, energyRate: 0.5, loopStore: "memory" });
    expect(entry(settings, "port")).toMatchObject({ source: "flag", origin: "--port" });
    expect(entry(settings, "loopHistory")).toMatchObject({ source: "environment", origin: "ERGON_LOOP_HISTORY" });
    expect(entry(settings, "energyRate")).toMatchObject({ source: "file", origin: join(data, "config.json") });
  });

  it("collects capability folders from flags and environment, relative ones from the working directory", () => {
    const settings = read({ ERGON_CAPABILITIES: `a${delimiter}${delimiter}/b` }, { capabilities: ["c", "a"] });
    expect(settings.values.capabilities).toEqual([join(cwd, "c"), join(cwd, "a"), "/b"]);
    expect(entry(settings, "capabilities").origin).toBe("--capabilities, ERGON_CAPABILITIES");
  });

  it("reads paths in the file from the file's own folder", () => {
    const data = writeConfig({ capabilities: ["tools"] });
    expect(read({ ERGON_DATA: data }).values.capabilities).toEqual([join(data, "tools")]);
  });

  it("treats an empty variable as unset", () => {
    expect(read({ FSDD_MCP_PORT: "", ERGON_TOKEN: "" })).toMatchObject({
      values: { port: 8000, token: undefined },
      problems: [],
    });
  });

  it("does not read the configuration of a folder that was found by working directory, and says so", () => {
    mkdirSync(join(cwd, ".ergon"));
    writeFileSync(join(cwd, ".ergon/config.json"), `{"capabilities": ["evil"]}`);
    const settings = read();
    expect(settings.values.capabilities).toEqual([]);
    expect(settings.problems).toHaveLength(1);
    expect(settings.problems[0]?.severity).toBe("warning");
    expect(settings.problems[0]?.message).toMatch(/config\.json is not read.*--data/);
  });
});

describe("what is wrong with a value", () => {
  it.each([
    ["FSDD_LOOP_PLAN_THRESHOLD", ["1", "100"], ["0", "101", "85.5", "high"]],
    ["FSDD_LOOP_BUILD_CODE_MAX_ITERATIONS", ["1", "20"], ["0", "21", "-1"]],
    ["ERGON_LOOP_HISTORY", ["1", "1000"], ["0", "1001"]],
    ["FSDD_MCP_PORT", ["0", "65535"], ["65536", "80a"]],
    ["ERGON_ENERGY_RATE", ["0", "0.25", "1000"], ["-1", "1001", "NaN", "Infinity"]],
    ["FSDD_MCP_DEBUG", ["true", "0", "off"], ["maybe"]],
    ["ERGON_MODEL", ["offline", "openai/gpt-5-mini"], ["gpt-5", "a b"]],
    ["ERGON_MODEL_URL", ["http://localhost:1234/v1"], ["localhost", "file:///etc/passwd", "javascript:alert(1)"]],
    ["ERGON_STORE", ["sqlite:", "memory:"], ["mysql:"]],
    ["ERGON_LOG", ["silent", "trace"], ["loud"]],
    ["ERGON_FSYNC", ["effects", "always"], ["never"]],
  ])("%s takes %j and refuses %j", (name, good, bad) => {
    for (const value of good) expect(read({ [name]: value }).problems).toEqual([]);
    for (const value of bad) {
      const { problems } = read({ [name]: value });
      expect(problems.map((problem) => problem.severity)).toEqual(["error"]);
      expect(problems[0]?.message).toContain(`${name} is ${JSON.stringify(value)}; it must be`);
    }
  });

  it.each([
    ["ERGON_STORE", "postgres://localhost/x", "the Postgres store"],
    ["ERGON_STORE", "redis://localhost", "the Redis store"],
    ["ERGON_BLOBS", "s3://bucket", "the S3 blob store"],
    ["ERGON_ENGINE", "restate:http://localhost:8080", "the Restate engine"],
  ])("says of %s=%s that it comes later", (name, value, what) => {
    const { problems } = read({ [name]: value });
    expect(problems.map((problem) => problem.severity)).toEqual(["error"]);
    expect(problems[0]?.message).toContain(`${what} comes in a later version`);
  });

  it("names what was meant by an unknown variable of ours, and leaves others alone", () => {
    const { problems } = read({ FSDD_LOOP_PLAN_TRESHOLD: "80", ERGON_DTA: "x", MCP_WHATEVER: "x", HOME: "/root" });
    expect(problems).toEqual([
      { severity: "warning", message: 'ERGON_DTA is not a setting of Ergon. Did you mean "ERGON_DATA"?' },
      {
        severity: "error",
        message: 'FSDD_LOOP_PLAN_TRESHOLD is not a setting of Ergon. Did you mean "FSDD_LOOP_PLAN_THRESHOLD"?',
      },
    ]);
  });

  it("names what was meant by an unknown name in the file, and refuses secrets and the data folder there", () => {
    const data = writeConfig({ prot: 1, token: "abc", data: "elsewhere" });
    const messages = read({}, { data }).problems.map((problem) => problem.message);
    expect(messages).toHaveLength(3);
    expect(messages.join("\n")).toMatch(/"prot".*Did you mean "port"\?/);
    expect(messages.join("\n")).toMatch(/"token".*set ERGON_TOKEN in the environment/);
    expect(messages.join("\n")).toMatch(/"data".*set ERGON_DATA/);
  });

  it.each([
    ['{\n  "port": 1,\n}', /not JSON: unexpected "}", expected a name in double quotes at line 3, column 1/],
    ["[]", /one JSON object/],
    [" ".repeat(MAX_CONFIG_BYTES + 1), /more than 1048576/],
  ])("says why a configuration file cannot be used", (source, reason) => {
    const data = writeConfig({});
    writeFileSync(join(data, "config.json"), source);
    const { problems } = read({}, { data });
    expect(problems.map((problem) => problem.severity)).toEqual(["error"]);
    expect(problems[0]?.message).toMatch(reason);
  });

  it("takes a configuration file of the largest size", () => {
    const data = writeConfig({});
    writeFileSync(join(data, "config.json"), `{"port": 5}`.padEnd(MAX_CONFIG_BYTES));
    expect(read({}, { data })).toMatchObject({ values: { port: 5 }, problems: [] });
  });

  it("wants a token and host names before the server may be reached by others", () => {
    const open = { FSDD_MCP_HOST: "0.0.0.0" };
    expect(read(open).problems).toHaveLength(2);
    expect(read({ ...open, ERGON_TOKEN: "t", ERGON_ALLOWED_HOSTS: "ergon.example, 10.0.0.1:8000" }).problems).toEqual(
      [],
    );
  });
});

it("knows every name that is public", () => {
  const loops = ["PLAN", "SPEC", "BUILD_PLAN", "BUILD_CODE"];
  const names = [
    ...loops.flatMap((loop) => [`FSDD_LOOP_${loop}_THRESHOLD`, `FSDD_LOOP_${loop}_MAX_ITERATIONS`]),
    ...["SERVER_NAME", "HOST", "PORT", "DEBUG"].map((name) => `FSDD_MCP_${name}`),
    ...["CONFIG_PATH", "AUTO_DISCOVERY", "TOOL_APPROVAL"].map((name) => `MCP_${name}`),
    ...["URL", "SERVICE_ROLE_KEY"].map((name) => `SUPABASE_${name}`),
    ...[
      "DATA",
      "TOKEN",
      "ALLOWED_HOSTS",
      "CAPABILITIES",
      "CORRECTIONS",
      "CORRECTION_BUDGET",
      "STORE",
      "BLOBS",
      "ENGINE",
      "MODEL",
      "MODEL_URL",
      "EMBEDDER",
      "LOOP_STORE",
      "MCP_REGISTRY",
    ].map((name) => `ERGON_${name}`),
    ...[
      "LOOP_HISTORY",
      "ENERGY_COST",
      "ENERGY_LOW",
      "ENERGY_PAUSE",
      "ENERGY_RATE",
      "ENERGY_RESUME",
      "DATA_ROOTS",
      "SANDBOX_URL",
      "SANDBOX_TOKEN",
      "OAUTH_ISSUER",
      "LOG",
      "FSYNC",
      "IDLE_REVIEW",
    ].map((name) => `ERGON_${name}`),
  ];
  const known = Object.values(SETTINGS).map((setting) => setting.env);
  expect(known.filter((name) => !name.endsWith("_API_KEY")).toSorted()).toEqual(names.toSorted());
});

it("never shows a secret, not even a bad one", () => {
  const secrets = Object.values(SETTINGS).filter((setting) => setting.secret);
  expect(secrets.map((setting) => setting.env)).toContain("OPENAI_API_KEY");
  const env = Object.fromEntries(secrets.map((setting) => [setting.env, "canary value\u0007"]));
  const settings = read(env);
  expect(JSON.stringify([settings.entries, settings.problems])).not.toContain("canary");
  expect(entry(settings, "openaiKey").shown).toBe("set (from environment)");
});

it("answers with values and problems whatever the environment holds", { timeout: 60_000 }, () => {
  const names = Object.values(SETTINGS).map((setting) => setting.env);
  const anything = fc.dictionary(fc.constantFrom(...names, "ERGON_X", "FSDD_LOOP_X"), fc.string({ unit: "binary" }));
  fc.assert(
    fc.property(anything, (env) => {
      const settings = readSettings({ env, flags: {}, cwd: "/nowhere" });
      expect(settings.entries).toHaveLength(names.length);
    }),
    { numRuns: 50 },
  );
});

it("takes a value of the largest length and refuses a longer one", () => {
  const name = "x".repeat(MAX_SETTING_LENGTH);
  expect(read({ FSDD_MCP_SERVER_NAME: name })).toMatchObject({ values: { serverName: name }, problems: [] });
  expect(read({ FSDD_MCP_SERVER_NAME: `${name}x` }).problems).toHaveLength(1);
});

it("hides a password inside a URL", () => {
  const settings = read({
    ERGON_MODEL_URL: "https://me:canary@models.example/v1",
    ERGON_STORE: "mysql://me:canary@db",
  });
  expect(JSON.stringify([settings.entries, settings.problems])).not.toContain("canary");
  expect(settings.values.modelUrl).toContain("canary");
});

function read(env: Record<string, string> = {}, flags: SettingFlags = {}): Settings {
  return readSettings({ env, flags, cwd });
}

function entry(settings: Settings, name: keyof typeof SETTINGS) {
  const found = settings.entries.find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no entry ${name}`);
  return found;
}

function writeConfig(values: Record<string, unknown>): string {
  const data = join(cwd, "named");
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, "config.json"), JSON.stringify(values));
  return data;
}
