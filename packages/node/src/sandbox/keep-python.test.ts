import { chmod, cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystemClock, type Sandbox } from "@ergon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findFence } from "./fence.ts";
import { createLocalSandbox } from "./local-sandbox.ts";
import { PROBES } from "./probes.fixture.ts";
import { lookForFence } from "./profiles.ts";

// The keeper of CPython loads numpy and pandas, which few machines have. How it watches processes does not depend on
// them, so that empty modules take their place here; with the real ones, `probes.test.ts` runs the same probes.
const ABOUT_PROCESSES = /(stops|interrupts) |leaves |kills |forges its answer/;
const found = await lookForFence(findFence);
const KEEPER_PROBES = PROBES.data.filter(({ name, ends }) => ends !== undefined && ABOUT_PROCESSES.test(name));

describe.runIf("fence" in found)("the keeper of CPython", { timeout: 60_000 }, () => {
  let bundle: string;
  let sandbox: Sandbox;

  beforeAll(async () => {
    bundle = await mkdtemp(join(tmpdir(), "ergon-keeper-"));
    // The sandbox's user is another one than ours.
    await chmod(bundle, 0o755);
    await cp(join(import.meta.dirname, "child"), bundle, { recursive: true });
    for (const name of ["numpy.py", "pandas.py"]) await writeFile(join(bundle, name), "");
    const fenceOf = async () => ("fence" in found ? found.fence : undefined);
    const profiles = { list: async () => [], fenceOf };
    sandbox = createLocalSandbox({ bundle, cacheFolder: bundle, clock: createSystemClock(), spares: 0, profiles });
  });
  afterAll(async () => {
    await sandbox.close();
    await rm(bundle, { recursive: true });
  });

  it.each(KEEPER_PROBES)("ends at once, not at the time limit, when $name", async ({ language, code, ends }) => {
    const timeoutMs = 20_000;
    const result = await sandbox.execute({ language, code, profile: "data", timeoutMs, inputs: {} });
    expect(result.status, JSON.stringify(result)).toBeOneOf([...(ends ?? [])]);
    expect(result.returnValue ?? null).toBeNull();
    expect(result.durationMs).toBeLessThan(timeoutMs / 2);
  });

  it("is tried in eight ways", () => {
    expect(KEEPER_PROBES).toHaveLength(8);
  });
});
