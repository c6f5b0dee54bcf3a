import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { plainEnvironment } from "./ergon.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "supabase/functions/mcp-loop");

export type EdgeFunction = {
  readonly ask: (token: string, body: unknown) => Promise<{ readonly status: number; readonly body: unknown }>;
  readonly stop: () => Promise<void>;
};

/** The function as its runtime starts it: under Deno with its own import map, nothing but network and environment. */
export async function startEdgeFunction(env: Readonly<Record<string, string>>): Promise<EdgeFunction> {
  const child = spawn(
    join(root, "node_modules/.bin/deno"),
    [
      "run",
      `--config=${join(folder, "deno.json")}`,
      "--node-modules-dir=manual",
      "--no-lock",
      "--no-prompt",
      "--no-remote",
      "--cached-only",
      "--allow-net=127.0.0.1",
      "--allow-env",
      "--allow-sys=hostname",
      join(folder, "index.ts"),
    ],
    {
      cwd: root,
      // What is started here starts the runtime in turn; both end together.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...plainEnvironment(),
        ...env,
        NO_COLOR: "1",
        DENO_DIR: join(root, "node_modules/.cache/deno"),
        DENO_NO_UPDATE_CHECK: "1",
        DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0",
      },
    },
  );
  const closed = once(child, "close");
  let said = "";
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      said += chunk.toString("utf8");
      const [, found] = /Listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    void closed.then(() => reject(new Error(`The function ended: ${said}`)));
  });
  return {
    ask: async (token, body) => {
      const response = await fetch(url, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    },
    stop: async () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
      await closed;
    },
  };
}
