import { readFile, realpath, writeFile } from "node:fs/promises";
import { join, relative, isAbsolute } from "node:path";
import { dependenciesOf, hubError, judgeLock, MIN_AGE_DAYS, type PackageFacts, PackageLock } from "@ergon/core/hub";
import { z } from "zod";
import { type NpmOptions, runNpm } from "./npm.ts";
import { makeServerFolder, removeServerFolder } from "./server-folder.ts";

const DAY_MS = 86_400_000;

export type InstalledPackage = {
  /** Everything of it is in here. */
  readonly folder: string;
  /** The file that Node runs. */
  readonly program: string;
  /** How many other packages came with it. */
  readonly dependencies: number;
};

export type InstallOptions = {
  readonly servers: string;
  readonly id: string;
  readonly now: () => number;
  readonly signal: AbortSignal;
};

/** What npm says of its configuration. */
const NpmConfig = z.looseObject({ registry: z.string(), "allow-remote": z.string().optional() });

/**
 * Puts one exact version into a folder of its own, with no script run. npm first writes down what it would fetch, asking
 * nothing but the registry; that lock is judged, and then installed exactly. Leaves nothing behind when it fails.
 */
export async function installPackage(
  facts: PackageFacts,
  { servers, id, now, signal }: InstallOptions,
): Promise<InstalledPackage> {
  const label = `${facts.name}@${facts.version}`;
  const folder = await makeServerFolder(servers, id);
  const options = { cwd: folder, signal };
  try {
    await writeFile(join(folder, "package.json"), '{ "private": true }\n');
    const registries = await registryOrigins(options);
    const before = new Date(now() - MIN_AGE_DAYS * DAY_MS).toISOString();
    const resolving = ["install", "--package-lock-only", "--save-exact", `--before=${before}`, ...WHAT];
    await runNpm([...resolving, "--", label], options);
    const lock = PackageLock.parse(JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")));
    compare(lock, facts);
    const objections = judgeLock(lock, registries);
    if (objections.length > 0) {
      const message = `${label} is not installed. ${objections.map((objection) => objection.message).join(" ")}`;
      throw hubError("install_refused", message, { details: { objections: [...objections] } });
    }
    await runNpm(["ci", ...WHAT], options);
    const home = join(folder, "node_modules", ...facts.name.split("/"));
    const program = await realpath(join(home, facts.program ?? "")).catch(() => "");
    if (program === "" || !isInside(await realpath(home), program))
      throw hubError("install_failed", `${label} names a program that is not in it.`);
    return { folder, program, dependencies: dependenciesOf(lock) };
  } catch (thrown) {
    await removeServerFolder(servers, id);
    throw thrown;
  }
}

const WHAT = [
  "--omit=dev",
  "--install-strategy=hoisted",
  "--package-lock",
  "--no-omit-lockfile-registry-resolved",
  // A package may name dependencies that would be fetched from anywhere, cloned, or linked from this machine.
  "--allow-git=none",
  "--allow-remote=none",
  "--allow-file=none",
  "--allow-directory=none",
];

/** Where the user's npm fetches packages from. An npm that packages could send elsewhere is not used. */
async function registryOrigins(options: NpmOptions): Promise<readonly string[]> {
  const config = NpmConfig.parse(JSON.parse(await runNpm(["config", "list", "--json"], options)));
  if (config["allow-remote"] === undefined) {
    const message =
      "This npm cannot be kept from fetching what a package's dependencies name outside of the registry. Update it (npm install -g npm@latest), then ask again.";
    throw hubError("install_failed", message);
  }
  const named = Object.entries(config).filter(([key]) => key === "registry" || /^@[^:]+:registry$/.test(key));
  return named.map(([, url]) => new URL(String(url)).origin);
}

function compare({ packages }: PackageLock, { name, version, integrity }: PackageFacts): void {
  const arrived = packages[`node_modules/${name}`];
  if (arrived?.version === version && arrived.integrity === integrity && integrity !== undefined) return;
  throw hubError(
    "install_refused",
    `${name}@${version} is not what its registry had said it was: its sha512 differs.`,
    {
      details: { expected: integrity ?? "", arrived: arrived?.integrity ?? "" },
    },
  );
}

function isInside(folder: string, file: string): boolean {
  const path = relative(folder, file);
  return path !== "" && !path.startsWith("..") && !isAbsolute(path);
}
