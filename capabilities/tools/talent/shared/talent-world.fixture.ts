import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ActionResponse, createSystemClock, type ChatModel, type Json, silentLogger, ToolRegistry } from "@ergon/core";
import type { MCPActionV2 } from "@ergon/core/spec";
import { createHashEmbedder } from "@ergon/core/store-kit";
import { createToolGate } from "@ergon/core/engine";
import { createSupabase, type Supabase } from "@ergon/node";
import { afterAll, beforeAll, vi } from "vitest";
import type { z } from "zod";
import { prepareSupabase } from "./prepared-supabase.fixture.ts";
import type { TalentClient } from "./talent-database.ts";

const schema = join(import.meta.dirname, "../../../../supabase");
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
    await prepareSupabase(join(folder, "supabase"));
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
