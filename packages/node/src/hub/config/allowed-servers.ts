import { join } from "node:path";
import type { Json } from "@ergon/core";
import { canonicalJson, sha256Hex } from "@ergon/core/schema";
import { hubError, type MCPServerConfig } from "@ergon/core/hub";
import { z } from "zod";
import { stateFolder } from "../../ownership/state-folder.ts";
import { readPrivateFile, replacePrivateFile } from "../../tokens/private-file.ts";

export const MAX_ALLOWED_SERVERS = 1_000;
const MAX_FILE_BYTES = 8 * 1024 * 1024;

/**
 * Which servers of configurations that were found, not named, a person has approved. StoredAllowance in the user's own folder: one
 * that lies beside the configuration could come with it.
 */
export type AllowedServers = {
  readonly has: (file: string, server: MCPServerConfig) => Promise<boolean>;
  readonly allow: (file: string, server: MCPServerConfig, at: string) => Promise<void>;
};

export function openAllowedServers(path: string): AllowedServers {
  let writing: Promise<void> = Promise.resolve();
  const read = async (): Promise<StoredAllowance> => {
    const text = await readPrivateFile(path, MAX_FILE_BYTES);
    const parsed =
      text === undefined ? { success: true as const, data: { allowed: [] } } : StoredAllowance.safeParse(parse(text));
    if (parsed.success) return parsed.data;
    throw hubError("server_config_invalid", `${path} cannot be read; remove it to approve servers anew.`);
  };
  return {
    has: async (file, server) => {
      const hash = hashOf(file, server);
      return (await read()).allowed.some((entry) => entry.hash === hash);
    },
    allow: (file, server, at) => {
      const change = writing.then(async () => {
        const { allowed } = await read();
        const hash = hashOf(file, server);
        const others = allowed.filter((entry) => entry.hash !== hash);
        const kept = [...others, { hash, file, serverId: server.id, at }].slice(-MAX_ALLOWED_SERVERS);
        await replacePrivateFile(path, `${JSON.stringify({ allowed: kept }, undefined, 2)}\n`);
      });
      writing = change.catch(() => undefined);
      return change;
    },
  };
}

export function allowedServersPath(env: Readonly<Record<string, string | undefined>>): string {
  return join(stateFolder(env), "allowed-servers.json");
}

const StoredAllowance = z.object({
  allowed: z.array(z.object({ hash: z.string(), file: z.string(), serverId: z.string(), at: z.string() })),
});
type StoredAllowance = z.infer<typeof StoredAllowance>;

/** The whole entry as it is written, references as references, but for what neither starts nor allows anything. */
function hashOf(file: string, server: MCPServerConfig): string {
  const { name: _name, enabled: _enabled, timeoutMs: _timeoutMs, ...entry } = server;
  return sha256Hex(canonicalJson(JSON.parse(JSON.stringify({ file, entry })) as Json));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
