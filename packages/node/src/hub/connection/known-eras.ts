import { createHash, randomUUID } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import type { MCPServerConfig } from "@ergon/core/hub";
import { z } from "zod";
import { readOwnFile } from "../../ownership/own-file.ts";

export type ServerEra = z.infer<typeof Era>;

/** What was found out about the protocols of servers, for the next start: asking anew may cost a process each time. */
export type KnownEras = {
  readonly find: (config: MCPServerConfig) => ServerEra | undefined;
  readonly note: (config: MCPServerConfig, era: ServerEra) => void;
};

export const MAX_KNOWN_ERAS = 500;
const MAX_BOOK_BYTES = 1024 * 1024;
/** Servers are brought up to date; after this long one is asked again. */
const KNOWN_MS = 7 * 86_400_000;

/** `legacy` servers begin with `initialize`; the others say at each request what is spoken. */
const Era = z.enum(["legacy", "modern"]);
const StoredEras = z.record(z.string(), z.object({ era: Era, atMs: z.number() }));

/** In a file that may be lost: what is not known is found out again. */
export function openKnownEras(path: string, now: () => number = Date.now): KnownEras {
  let book: z.infer<typeof StoredEras> | undefined;
  const read = (): z.infer<typeof StoredEras> => (book ??= readEras(path));
  return {
    find: (config) => {
      const known = read()[keyOf(config)];
      return known !== undefined && now() - known.atMs < KNOWN_MS ? known.era : undefined;
    },
    note: (config, era) => {
      const key = keyOf(config);
      const known = read()[key];
      if (known?.era === era && now() - known.atMs < KNOWN_MS) return;
      const newest = Object.entries({ ...read(), [key]: { era, atMs: now() } }).sort(([, a], [, b]) => b.atMs - a.atMs);
      book = Object.fromEntries(newest.slice(0, MAX_KNOWN_ERAS));
      try {
        const temporary = `${path}.${randomUUID()}`;
        writeFileSync(temporary, JSON.stringify(book), { mode: 0o600, flag: "wx" });
        renameSync(temporary, path);
      } catch {
        // It is known until the process ends, and found out again by the next one.
        return;
      }
    },
  };
}

function readEras(path: string): z.infer<typeof StoredEras> {
  try {
    return StoredEras.parse(JSON.parse(readOwnFile(path, MAX_BOOK_BYTES)?.toString("utf8") ?? "{}"));
  } catch {
    return {};
  }
}

/** Another program, or another address, may speak another protocol. */
function keyOf({ command, args = [], url }: MCPServerConfig): string {
  return createHash("sha256")
    .update(JSON.stringify([command, args, url]))
    .digest("base64url");
}
