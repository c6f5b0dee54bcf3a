import { readFile, realpath, writeFile } from "node:fs/promises";
import { join, relative, isAbsolute } from "node:path";
import { hubError, type PackageFacts } from "@ergon/core";
import { z } from "zod";
import { runNpm } from "./npm.ts";
import { makeServerFolder, removeServerFolder } from "./server-folder.ts";

export type InstalledPackage = {
  /** Everything of it is in here. */
  readonly folder: string;
  /** The file that Node runs. */
  readonly program: string;
};

const Lock = z.object({
  packages: z.record(z.string(), z.object({ integrity: z.string().optional(), version: z.string().optional() })),
});

/**
 * Puts one exact version into a folder of its own, with no script run, and compares what arrived with what the registry had
 * said of it before. Leaves nothing behind when it fails.
 */
export async function installPackage(
  facts: PackageFacts,
  { servers, id, signal }: { readonly servers: string; readonly id: string; readonly signal: AbortSignal },
): Promise<InstalledPackage> {
  const label = `${facts.name}@${facts.version}`;
  const folder = await makeServerFolder(servers, id);
  try {
    await writeFile(join(folder, "package.json"), '{ "private": true }\n');
    await runNpm(
      ["install", "--save-exact", "--package-lock", "--omit=dev", "--install-strategy=hoisted", "--", label],
      {
        cwd: folder,
        signal,
      },
    );
    await compare(folder, facts);
    const home = join(folder, "node_modules", ...facts.name.split("/"));
    const program = await realpath(join(home, facts.program ?? "")).catch(() => "");
    if (program === "" || !isInside(await realpath(home), program))
      throw hubError("install_failed", `${label} names a program that is not in it.`);
    return { folder, program };
  } catch (thrown) {
    await removeServerFolder(servers, id);
    throw thrown;
  }
}

async function compare(folder: string, { name, version, integrity }: PackageFacts): Promise<void> {
  const lock = Lock.parse(JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")));
  const arrived = lock.packages[`node_modules/${name}`];
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
