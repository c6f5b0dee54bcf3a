import { describe, expect, it } from "vitest";
import { z } from "zod";
import { readJson, readText, repositoryFiles } from "./source-files.ts";

const Versions = z.record(z.string(), z.string()).default({});
const Manifest = z.object({ dependencies: Versions, devDependencies: Versions, optionalDependencies: Versions });
const Lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      integrity: z.string().optional(),
      link: z.boolean().optional(),
      optionalDependencies: Versions,
    }),
  ),
});

const manifests = repositoryFiles(/(?:^|\/)package\.json$/);
const lock = Lock.parse(readJson("package-lock.json"));
const runtimes = Manifest.parse(readJson("apps/ergon/package.json")).optionalDependencies;

describe("npm ci", () => {
  it.each(manifests)("%s names exact versions", (file) => {
    const { dependencies, devDependencies, optionalDependencies } = Manifest.parse(readJson(file));
    const versions = { ...dependencies, ...devDependencies, ...optionalDependencies };
    expect(Object.entries(versions).filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))).toEqual([]);
  });

  it("locks every package with its integrity", () => {
    const installed = Object.entries(lock.packages).filter(
      ([path, { link }]) => path.includes("node_modules/") && !link,
    );
    expect(installed.length).toBeGreaterThan(50);
    expect(installed.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
  });

  it.each(Object.entries(runtimes))("locks %s %s, whatever the platform that made the lock file", (name, version) => {
    expect(lock.packages[`node_modules/${name}`]?.version).toBe(version);
  });

  it("locks every platform's binaries, also where the registry was slow to have them all", () => {
    const wanted = Object.values(lock.packages).flatMap(({ optionalDependencies }) =>
      Object.keys(optionalDependencies),
    );
    const paths = Object.keys(lock.packages);
    expect(wanted.length).toBeGreaterThan(50);
    expect(wanted.filter((name) => !paths.some((path) => path.endsWith(`node_modules/${name}`)))).toEqual([]);
  });

  it("brings a Node for each platform that the launcher looks for", () => {
    const launcher = readText("apps/ergon/bin/ergon.js");
    const named = [...launcher.matchAll(/"(?:linux|darwin|win32)-\w+": "([\w-]+)"/g)].map(([, name]) => name);
    expect(new Set(named)).toEqual(new Set(Object.keys(runtimes)));
  });
});
