import { expect, it } from "vitest";
import { z } from "zod";
import { createToolRun } from "../../testing/tool-run.ts";
import { createSystemClock } from "../memory/clock.ts";
import { silentLogger } from "../memory/logger.ts";
import { adaptTool } from "./adapt/adapt-tool.ts";
import { defineAction, defineTool } from "./define.ts";
import { createToolGate } from "./gate/gate.ts";
import { ToolRegistry } from "./registry.ts";

const charge = defineTool({
  name: "shop::charge",
  description: "Charges an order.",
  input: z.object({ order: z.string(), cents: z.number().int().default(100) }),
  output: z.object({ receipt: z.string() }),
  tags: ["money"],
  run: async ({ order, cents }, { idempotencyKey }) => ({ receipt: `${order} ${String(cents)} ${idempotencyKey}` }),
});

it("makes a tool of an input schema, an output schema and a function of args and ctx", async () => {
  const tool = adaptTool(charge, { source: "a.tool.ts" });
  expect(tool).toMatchObject({ id: "shop::charge", effects: "once", tags: ["money"], source: "a.tool.ts" });
  expect(tool.outputSchema).toMatchObject({ required: ["receipt"] });
  const body = await tool.body();
  expect(body.validateArgs({ order: "A" })).toEqual({ ok: true, value: { order: "A", cents: 100 } });
  const call = { args: { order: "A", cents: 1 }, context: {}, infrastructure: {} };
  expect(await body.run(call, createToolRun({ idempotencyKey: "k" }))).toEqual({ receipt: "A 1 k" });
});

it("checks what the tool returns against its output schema", async () => {
  const registry = new ToolRegistry();
  const lies = async () => JSON.parse('{ "receipt": 7 }') as { receipt: string };
  registry.register(defineTool({ ...charge, name: "shop::lies", run: lies }));
  const gate = createToolGate({ registry, clock: createSystemClock(), logger: silentLogger });
  const caller = { kind: "cli", owner: "ada" } as const;
  const checked = await gate.check({ toolId: "shop::lies", args: { order: "A" }, caller, context: {} });
  if (checked.kind !== "allowed") throw new Error(checked.kind);
  const outcome = await gate.invoke(checked, { idempotencyKey: "k", context: {} });
  expect(outcome).toMatchObject({ kind: "failed", error: { code: "output_invalid" } });
});

it("refuses a tool that is written in both forms", () => {
  const both: object = { ...charge, argsSchema: z.object({}) };
  expect(() => defineTool(both as typeof charge)).toThrow(
    expect.objectContaining({
      code: "tool_invalid",
      message: expect.stringContaining('both "input" and "argsSchema"'),
    }),
  );
  expect(() => adaptTool(both)).toThrow(expect.objectContaining({ code: "tool_invalid" }));
});

it("names a misspelt field", () => {
  const misspelt: object = { ...charge, effect: "pure" };
  expect(() => adaptTool(misspelt)).toThrow(/effects/);
});

it("types the database of an action by a generic, and infers its args all the same", () => {
  type Database = { readonly from: (table: string) => { readonly rows: number } };
  const action = defineAction<Database>()({
    id: "countRows",
    description: "Counts rows.",
    argsSchema: z.object({ table: z.string() }),
    actionFn: async ({ args, supabase }) => ({ success: true, data: { rows: supabase.from(args.table).rows } }),
  });
  expect(action).toMatchObject({ id: "countRows", title: "countRows", usesAI: false });
  expect(adaptTool(action).id).toBe("countRows");
});
