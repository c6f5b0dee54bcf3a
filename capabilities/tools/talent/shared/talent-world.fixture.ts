import { createHash, randomUUID } from "node:crypto";
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ActionResponse,
  createHashEmbedder,
  createSystemClock,
  type ChatModel,
  createToolGate,
  type Json,
  type MCPActionV2,
  silentLogger,
  ToolRegistry,
} from "@ergon/core";
import { createSupabase, openEmbeddedDatabase, type Supabase } from "@ergon/node";
import { afterAll, beforeAll, vi } from "vitest";
import type { z } from "zod";
import type { TalentClient } from "./talent-database.ts";

const root = join(import.meta.dirname, "../../../..");
const schema = join(root, "supabase");
/** What takes a second here may take many on a machine that has much else to do. */
const PATIENCE_MS = 120_000;

export type TalentWorld = {
  readonly client: TalentClient;
  /** As the gate calls it; refuses what the gate refuses. */
  readonly call: (args: Readonly<Record<string, unknown>>, options?: CallOptions) => Promise<Answer>;
};
type CallOptions = {
  readonly context?: Readonly<Record<string, unknown>>;
  readonly supabase?: unknown;
  readonly model?: ChatModel;
};
/** What tests look into; each knows what it asked for. */
type Answer = Omit<ActionResponse, "data"> & { readonly data: Json };

/** The sample data in a real database of its own, for all tests of one file. */
export function talentWorld<S extends z.ZodObject>(action: MCPActionV2<S>): TalentWorld {
  vi.setConfig({ testTimeout: PATIENCE_MS });
  let supabase: Supabase;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "ergon-talent-"));
    cpSync(await prepared(), join(folder, "supabase"), { recursive: true });
    supabase = open(folder);
    await supabase.client.rpc("match_roles_for_profile", { profile_id: "nobody" });
  }, PATIENCE_MS);
  afterAll(async () => {
    await supabase.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const registry = new ToolRegistry();
  registry.register(action);
  const gate = createToolGate({ registry, clock: createSystemClock(), logger: silentLogger });
  return {
    get client() {
      return supabase.client as TalentClient;
    },
    call: async (args, { context = {}, ...given } = {}) => {
      const caller = { kind: "cli", owner: "test" } as const;
      const checked = await gate.check({ toolId: action.id, args, context, caller });
      if (checked.kind !== "allowed") throw new Error(JSON.stringify(checked));
      const infrastructure = { supabase: supabase.client, ...given };
      const outcome = await gate.invoke(checked, { idempotencyKey: randomUUID(), context, infrastructure });
      if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome.error));
      const { data = null, ...answer } = ActionResponse.parse(outcome.output);
      return { ...answer, data };
    },
  };
}

function open(dataFolder: string): Supabase {
  return createSupabase({ dataFolder, schema, logger: silentLogger, embedder: async () => createHashEmbedder() });
}

/** Making it takes long, copying it does not: it is made once for every schema that there was. */
async function prepared(): Promise<string> {
  const hash = createHash("sha256").update(readFileSync(join(root, "package-lock.json")));
  for (const file of globSync("{migrations/*.sql,seed.sql}", { cwd: schema }).sort())
    hash.update(readFileSync(join(schema, file)));
  const home = join(root, "node_modules/.cache/ergon-talent");
  const folder = join(home, hash.digest("hex").slice(0, 16));
  if (existsSync(folder)) return folder;
  const staging = join(home, `making-${randomUUID()}`);
  mkdirSync(staging, { recursive: true });
  try {
    await (await openEmbeddedDatabase({ folder: staging, schema })).close();
    if (!existsSync(folder)) renameSync(staging, folder);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return folder;
}
