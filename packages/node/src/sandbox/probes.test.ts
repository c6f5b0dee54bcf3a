import { readFileSync } from "node:fs";
import { access, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createSystemClock, type JsonObject, type Sandbox, type SandboxResult } from "@ergon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalSandbox } from "./local-sandbox.ts";
import { PREPARED_PYTHON } from "./prepared-python.fixture.ts";
import { runBatch } from "./probe-batch.fixture.ts";
import { PROBES } from "./probes.fixture.ts";
import { createProfiles } from "./profiles.ts";

const ALL_MS = 1_200_000;

const bundle = join(import.meta.dirname, "child");
const before = readFileSync(join(bundle, "realm.ts"), "utf8");
const folder = await mkdtemp(join(tmpdir(), "ergon-probes-"));
const profiles = createProfiles();
const known = await profiles.list();
const secret = "the probes must never see this";
let visitors = 0;
let listener: Server;
let sandbox: Sandbox;

beforeAll(async () => {
  process.env["ERGON_PROBE_SECRET"] = secret;
  await mkdir(join(folder, "targets"), { mode: 0o777 });
  await writeFile(join(folder, "secret.txt"), secret, { mode: 0o644 });
  listener = createServer((socket) => {
    visitors += 1;
    socket.end(`HTTP/1.1 200 OK\r\n\r\n${secret}`);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  sandbox = createLocalSandbox({
    bundle,
    cacheFolder: PREPARED_PYTHON,
    clock: createSystemClock(),
    profiles,
    maxWaiting: 200,
    spares: 0,
  });
});
afterAll(async () => {
  delete process.env["ERGON_PROBE_SECRET"];
  await sandbox.close();
  await new Promise((resolve) => listener.close(resolve));
  await rm(folder, { recursive: true });
});

function inputs(target: string): JsonObject {
  const { port } = listener.address() as AddressInfo;
  const given = {
    file: join(folder, "secret.txt"),
    target,
    bundle,
    url: `http://127.0.0.1:${port}/`,
    port,
    pid: process.pid,
    hostname: hostname(),
  };
  // As it would come over a wire: a field of that name, not a prototype.
  return JSON.parse(
    `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},${JSON.stringify(given).slice(1)}`,
  ) as JsonObject;
}

const ANSWER = {
  python: { language: "python", code: "6 * 7" },
  javascript: { language: "javascript", code: "return 6 * 7" },
} as const;

// A profile that this machine lacks is refused, which the contract shows; there is nothing to probe then.
for (const { name: profile, languages } of known.filter(({ available }) => available)) {
  describe(`code in the ${profile} profile`, { timeout: ALL_MS }, () => {
    const probes = PROBES[profile].map((probe, n) => ({
      ...probe,
      target: join(folder, "targets", `${profile}-${n}`),
    }));
    const alone = probes.filter(
      ({ language, ends, alone: needs }) => language !== "python" || needs || ends !== undefined,
    );
    const together = probes.filter((probe) => !alone.includes(probe));
    const results = new Map<string, SandboxResult | string>();

    beforeAll(async () => {
      const runs = alone.map(async ({ name, language, code, target, timeoutMs = 20_000 }) => {
        results.set(name, await sandbox.execute({ language, code, profile, timeoutMs, inputs: inputs(target) }));
      });
      const batch = together.map(({ name, code, target }) => ({ name, code, inputs: inputs(target) }));
      for (const [name, said] of await runBatch(sandbox, profile, batch)) results.set(name, said);
      await Promise.all(runs);
    }, ALL_MS);

    it("is probed in forty ways at least", () => {
      expect(new Set(probes.map(({ name }) => name)).size).toBeGreaterThanOrEqual(40);
    });

    it.each(probes)("gets nowhere when it $name", async ({ name, ends, target }) => {
      const result = results.get(name);
      expect(result).toBeDefined();
      expect(reached(result), JSON.stringify(result)).toBe(false);
      const status = typeof result === "string" ? undefined : result?.status;
      if (ends !== undefined) expect(ends, JSON.stringify(result).slice(0, 2_000)).toContain(status);
      expect(JSON.stringify(result)).not.toContain(secret);
      await expect(access(target)).rejects.toMatchObject({ code: "ENOENT" });
    });

    // How soon the next is answered, bench -- sandbox measures: here others share the processors.
    it.each(languages)("left nothing changed, and the next in %s is answered", async (language) => {
      expect(visitors).toBe(0);
      expect(readFileSync(join(bundle, "realm.ts"), "utf8")).toBe(before);
      expect(await sandbox.execute({ ...ANSWER[language], profile })).toMatchObject({ returnValue: 42 });
    });
  });
}

/** A probe says by a value that it got somewhere. */
function reached(result: SandboxResult | string | undefined): boolean {
  if (typeof result === "string") return result.startsWith("+") && isSomething(JSON.parse(result.slice(1)));
  return result?.status === "success" && isSomething(result.returnValue);
}

function isSomething(value: unknown): boolean {
  return Boolean(value) && !(Array.isArray(value) && value.length === 0);
}
