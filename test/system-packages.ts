// Installs the Debian packages that tests need beyond npm, where this process has the right to.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findFence } from "../packages/node/src/sandbox/fence.ts";

const APT = "/usr/bin/apt-get";
const MINUTES = 60_000;

/** Without bubblewrap the tests of fences are skipped by name, which CI does not allow. */
export function installSystemPackages(): void {
  if (findFence() !== undefined || process.getuid?.() !== 0 || !existsSync(APT)) return;
  console.log("installing bubblewrap, which the tests of fences need");
  const installed = apt("update", "-qq") && apt("install", "-y", "-qq", "--no-install-recommends", "bubblewrap");
  if (!installed) console.log("bubblewrap could not be installed: the tests of fences are skipped");
}

function apt(...args: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync(APT, args, { env, stdio: ["ignore", "ignore", "inherit"], timeout: 5 * MINUTES }).status === 0;
}
