import { randomUUID } from "node:crypto";
import { access, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "@ergon/core";
import { SANDBOX_LIMITS } from "@ergon/core/schema";
import { checkOwnFile } from "../ownership/own-file.ts";
import type { SandboxBundle } from "./bundle.ts";
import { denoLaunch } from "./launch.ts";
import { startRuntime } from "./runtime.ts";

export type SnapshotOptions = {
  readonly bundle: SandboxBundle;
  readonly folder: string;
  readonly clock: Clock;
};

/** Whether there is one already that fits. */
export async function hasSnapshot({ bundle, folder }: Omit<SnapshotOptions, "clock">): Promise<boolean> {
  return await exists(snapshotPath(folder, bundle));
}

/**
 * The file with the memory of a python that has just started; made when it is not there. Starting from it takes a tenth
 * of the time.
 */
export async function pythonSnapshot({ bundle, folder, clock }: SnapshotOptions): Promise<string> {
  const path = snapshotPath(folder, bundle);
  // It becomes the memory of every python: a link or another user's file could hold anything.
  checkOwnFile(path);
  if (await exists(path)) return path;
  const bytes = await takeSnapshot(bundle, clock);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const staged = join(folder, `${randomUUID()}.part`);
  try {
    await writeFile(staged, bytes, { mode: 0o600 });
    await rename(staged, path);
  } finally {
    await rm(staged, { force: true });
  }
  return path;
}

function snapshotPath(folder: string, { version }: SandboxBundle): string {
  return join(folder, `python-${version}.snapshot`);
}

async function takeSnapshot(bundle: SandboxBundle, clock: Clock): Promise<Uint8Array> {
  const parts: string[] = [];
  const { boot, ...launch } = denoLaunch(bundle, { language: "python", memoryMb: SANDBOX_LIMITS.memoryMb.default });
  const runtime = startRuntime({
    launch: { ...launch, boot: { ...boot, makeSnapshot: true } },
    clock,
    onSnapshot: (part) => void parts.push(part),
  });
  try {
    await runtime.ready;
  } finally {
    runtime.kill();
  }
  return Buffer.from(parts.join(""), "base64");
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
