import { readFileSync } from "node:fs";
import { join } from "node:path";
import { homeOf, readFolderId, stateFolder } from "@ergon/node";
import { z } from "zod";

type Environment = Readonly<Record<string, string | undefined>>;

const OwnerAccess = z.object({ url: z.string(), token: z.string() });

/** How other commands come to the process that owns a data folder. */
export function ownerAccess(data: string, env: Environment = process.env): z.infer<typeof OwnerAccess> {
  return OwnerAccess.parse(JSON.parse(kept(data, "owner.json", env)));
}

export function firstToken(data: string, env: Environment = process.env): string {
  return kept(data, "token", env).trim();
}

function kept(data: string, name: string, env: Environment): string {
  const id = readFolderId(data);
  if (id === undefined) throw new Error(`${data} has no id.`);
  return readFileSync(join(homeOf(stateFolder(env), id), name), "utf8");
}
