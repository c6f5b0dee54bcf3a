import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { z } from "zod";
import { type RunOptions, start } from "./ergon.ts";
import { firstToken } from "./owner-access.ts";

const ServerFile = z.strictObject({ pid: z.int(), url: z.string(), nonce: z.string() });

/** The real server, as people start it. */
export type ServedFolder = {
  readonly url: string;
  /** The first token. */
  readonly token: string;
  readonly pid: number;
  /** All that it has written to stderr. */
  readonly log: () => string;
  /** Sends a signal and waits for the end; gives the exit code. */
  readonly stop: (signal: NodeJS.Signals) => Promise<number | null>;
};

export type ServeOptions = RunOptions & {
  readonly args?: readonly string[];
  readonly token?: string;
  /** Where the token is read from, instead of being typed. */
  readonly tokenFile?: string;
};

export async function serveFolder(data: string, options: ServeOptions): Promise<ServedFolder> {
  const { token, tokenFile } = options;
  const typed = token === undefined ? [] : ["--token", token];
  const given = tokenFile === undefined ? typed : ["--token-file", tokenFile];
  const child = start(["serve", "--port", "0", "--data", data, ...given, ...(options.args ?? [])], options);
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const url = await readyLine(child, () => said);
  const { pid } = ServerFile.parse(JSON.parse(readFileSync(join(data, "server.json"), "utf8")));
  return {
    url,
    token: options.token ?? firstToken(data, { ...process.env, ...options.env }),
    pid,
    log: () => said,
    stop: async (signal) => {
      const closed = once(child, "close");
      process.kill(pid, signal);
      await closed;
      return child.exitCode;
    },
  };
}

async function readyLine(child: ChildProcessWithoutNullStreams, said: () => string): Promise<string> {
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^ready (http:\/\/\S+)$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`The server ended before it was ready: ${said()}`);
}
