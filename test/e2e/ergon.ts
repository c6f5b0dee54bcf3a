import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";

const root = join(import.meta.dirname, "../..");

/** How people start it, and how developers do. */
export const DOORS = {
  built: join(root, "apps/ergon/bin/ergon.js"),
  sources: join(root, "apps/ergon/src/cli.ts"),
} as const;

export type RunOptions = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly door?: keyof typeof DOORS;
};

export type Answer = { readonly out: string; readonly err: string; readonly code: number | null };

export function start(args: readonly string[], options: RunOptions): ChildProcessWithoutNullStreams {
  const { cwd, env = {}, door = "built" } = options;
  return spawn(process.execPath, [DOORS[door], ...args], { cwd, env: { ...plainEnvironment(), ...env } });
}

export async function ergon(args: readonly string[], options: RunOptions): Promise<Answer> {
  const child = start(args, options);
  child.stdin.on("error", () => undefined);
  child.stdin.end(options.input ?? "");
  return finish(child);
}

export async function finish(child: ChildProcessWithoutNullStreams): Promise<Answer> {
  const closed = once(child, "close");
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await closed;
  return { out, err, code: child.exitCode };
}

/** A folder of its own that a test may fill and that is gone afterwards. */
export function temporaryFolder(): {
  readonly path: string;
  readonly write: (files: Readonly<Record<string, string>>) => void;
  readonly remove: () => void;
} {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "ergon-cli-")));
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), content);
    }
  };
  return { path, write, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Without anything that would set Ergon up: a test says itself what it sets. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const foreign = Object.entries(process.env).filter(
    ([name]) => !/^(ERGON|FSDD|MCP|SUPABASE|npm|VITEST|NODE)_|_API_KEY$/i.test(name),
  );
  return Object.fromEntries(foreign);
}
