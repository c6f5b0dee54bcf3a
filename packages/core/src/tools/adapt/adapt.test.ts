import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createToolRun } from "../../../testing/tool-run.ts";
import { defineAction, defineTool } from "../define.ts";
import type { Tool, ToolBody } from "../tool.ts";
import { adaptAction } from "./action.ts";
import { adaptMcpTool } from "./mcp-tool.ts";
import { adaptPureTool, type PureToolImplementation } from "./pure-tool.ts";
import { adaptToolMetadata } from "./tool-metadata.ts";

const run = createToolRun({ idempotencyKey: "k" });

describe("a tool of spec 1", () => {
  it("gets context and args apart, and the run as its last argument", async () => {
    const tool = adaptToolMetadata(
      defineTool({
        name: "t",
        description: "T",
        argsSchema: z.object({ n: z.number().default(2) }),
        run: async ({ args, context }, { idempotencyKey }) => [args.n * 2, context["x"], idempotencyKey],
      }),
    );
    const body = await tool.body();
    expect(body.validateArgs({})).toEqual({ ok: true, value: { n: 2 } });
    expect(await body.run({ args: { n: 2 }, context: { x: 1 }, infrastructure: {} }, run)).toEqual([4, 1, "k"]);
    expect(tool).toMatchObject({ effects: "once", origin: "registered", usesAI: false });
  });

  it("keeps `this` for a tool that is an object with methods", async () => {
    class Counter {
      readonly name = "counter";
      readonly description = "Counts.";
      readonly argsSchema = z.object({});
      count = 0;
      run() {
        this.count += 1;
        return this.count;
      }
    }
    const body = await adaptToolMetadata(new Counter()).body();
    body.run({ args: {}, context: {}, infrastructure: {} }, run);
    expect(body.run({ args: {}, context: {}, infrastructure: {} }, run)).toBe(2);
  });

  it("is validated by its output schema", async () => {
    const form = {
      name: "t",
      description: "T",
      argsSchema: z.object({}),
      outputSchema: z.object({ n: z.number() }),
      run: () => 1,
    };
    const body = await adaptToolMetadata(form).body();
    expect(body.validateOutput?.({ n: "1" }).ok).toBe(false);
  });

  it("says when a schema makes what JSON cannot hold", async () => {
    const withSchema = (argsSchema: z.ZodType) =>
      adaptToolMetadata({ name: "t", description: "T", argsSchema, run: () => 1 }).body() as ToolBody;
    expect(withSchema(z.object({ at: z.coerce.date() })).validatesAtCall).toBe(true);
    expect(withSchema(z.object({ at: z.string().transform(Number) })).validatesAtCall).toBe(true);
    expect(withSchema(z.object({ at: z.iso.datetime() })).validatesAtCall).toBe(false);
  });

  it("answers for a schema that fails by itself", async () => {
    const withCheck = (check: () => unknown) =>
      adaptToolMetadata({
        name: "t",
        description: "T",
        argsSchema: z.object({}).refine(check),
        run: () => 1,
      }).body() as ToolBody;
    const threw = withCheck(() => {
      throw new Error("oops");
    }).validateArgs({});
    expect(threw).toMatchObject({
      ok: false,
      issues: [{ code: "schema_threw", message: "The schema itself failed: oops." }],
    });
    const slow = withCheck(async () => true).validateArgs({});
    expect(slow.ok ? "" : slow.issues[0]?.message).toContain("asynchronously");
  });

  it("says that Zod 3 is too old", () => {
    const zod3 = { _def: {}, safeParse: () => ({ success: true }) };
    expect(() => adaptToolMetadata({ name: "t", description: "T", argsSchema: zod3, run: () => 1 })).toThrow(/Zod 4/);
  });
});

describe("an action of spec 2", () => {
  const action = defineAction({
    id: "search",
    description: "Searches.",
    tags: ["find"],
    capabilityTags: ["search", "find"],
    argsSchema: z.object({ queryText: z.string().min(1), limit: z.number().positive().optional() }),
    getDefaultArgs: (context) => ({ queryText: context["lastMessage"] ?? "", limit: 10 }),
    actionFn: async ({ args, context, supabase, sessionId }) => ({
      success: true,
      data: {
        args: { queryText: args.queryText },
        user: String(context["user"]),
        hasDatabase: supabase !== undefined,
        sessionId: sessionId ?? "none",
      },
    }),
  });

  it("gets infrastructure, context and args from three sources", async () => {
    const tool = adaptAction(action);
    expect(tool).toMatchObject({
      id: "search",
      title: "search",
      origin: "action",
      effects: "once",
      tags: ["find", "search"],
    });
    const body = await tool.body();
    const infrastructure = { supabase: {}, sessionId: "s1" };
    expect(await body.run({ args: { queryText: "q" }, context: { user: "u" }, infrastructure }, run)).toEqual({
      success: true,
      data: { args: { queryText: "q" }, user: "u", hasDatabase: true, sessionId: "s1" },
    });
    expect(body.defaultArgs?.({ lastMessage: "m" })).toEqual({ queryText: "m", limit: 10 });
  });

  it("is refused when its args are infrastructure, in whatever combination", () => {
    const schemas: z.ZodType[] = [
      z.object({ supabase: z.any() }),
      z.object({ sessionId: z.string().optional() }),
      z.intersection(z.object({ a: z.string() }), z.object({ sessionId: z.string() })),
      z.union([z.object({ a: z.string() }), z.object({ supabase: z.any() })]),
      z.discriminatedUnion("k", [z.object({ k: z.literal(1) }), z.object({ k: z.literal(2), supabase: z.any() })]),
      z.object({ a: z.string() }).and(z.union([z.object({ b: z.string() }), z.object({ sessionId: z.string() })])),
      z.preprocess((value) => value, z.object({ sessionId: z.string() })),
      z.object({ sessionId: z.string() }).transform((value) => value),
      z.object({ sessionId: z.string() }).readonly().optional(),
      z.object({ sessionId: z.string() }).meta({ id: "named" }),
      z.lazy(() => z.object({ supabase: z.any() })),
      z.pipe(z.record(z.string(), z.any()), z.object({ supabase: z.any() })),
    ];
    for (const argsSchema of schemas) {
      expect(() => adaptAction({ ...action, argsSchema, getDefaultArgs: undefined })).toThrow(
        expect.objectContaining({ code: "infrastructure_in_args" }),
      );
    }
    const nested = z.object({ filter: z.object({ sessionId: z.string() }) });
    expect(adaptAction({ ...action, argsSchema: nested, getDefaultArgs: undefined }).id).toBe("search");
  });

  it("is refused when its defaults hold infrastructure, throw, or are no object", () => {
    const withDefaults = (getDefaultArgs: unknown) => () => adaptAction({ ...action, getDefaultArgs });
    expect(withDefaults(() => ({ supabase: 1 }))).toThrow(
      expect.objectContaining({ code: "infrastructure_in_defaults" }),
    );
    expect(withDefaults((context: { user: { id: string } }) => ({ id: context.user.id }))).toThrow(/lacks everything/);
    for (const wrong of [1, null, [], Promise.resolve({})]) {
      expect(withDefaults(() => wrong)).toThrow(expect.objectContaining({ code: "tool_invalid" }));
    }
  });

  it("requires what its registry entry requires, beside its schema", async () => {
    const tool = adaptAction({
      ...action,
      requiredArgs: ["limit"],
      requiredContext: ["userId"],
      requiredInputs: ["old"],
    });
    expect(tool.requiredContext).toEqual(["userId"]);
    expect(tool.parameters).toMatchObject({ required: ["queryText", "limit"] });
    const body = await tool.body();
    expect(body.validateArgs({ queryText: "q" })).toMatchObject({
      ok: false,
      issues: [{ path: "/limit", code: "required" }],
    });
    expect(() => adaptAction({ ...action, requiredArgs: ["nope"] })).toThrow(
      /"nope", which its argsSchema does not have/,
    );
  });

  it("needs no argsSchema", async () => {
    const { argsSchema: _, ...free } = action;
    const body = await adaptAction(free).body();
    expect(body.validateArgs({ anything: 1 })).toEqual({ ok: true, value: { anything: 1 } });
  });

  it("answers with spec 2's response, extra fields kept", async () => {
    const body = await adaptAction(action).body();
    expect(body.validateOutput?.({ success: true, extra: 1 })).toEqual({
      ok: true,
      value: { success: true, extra: 1 },
    });
    expect(body.validateOutput?.("done").ok).toBe(false);
  });
});

describe("a tool of spec 4", () => {
  const definition = {
    id: "calc::add",
    description: "Adds.",
    parameters: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number", default: 1 } },
      required: ["a"],
    },
    outputSchema: {
      type: "object",
      properties: { sum: { type: "number" }, note: { type: "string", default: "none" } },
      required: ["sum"],
    },
  };
  const implementation: PureToolImplementation<{ a: number; b: number }> = async ({ a, b }) => ({ sum: a + b });

  it("is pure unless it says otherwise, and validates by its JSON Schemas", async () => {
    const tool = adaptPureTool({ definition, implementation }, { source: "add.tool.ts" });
    expect(tool).toMatchObject({ id: "calc::add", effects: "pure", origin: "tool", source: "add.tool.ts" });
    const body = await tool.body();
    expect(body.validateArgs({ a: 1 })).toEqual({ ok: true, value: { a: 1, b: 1 } });
    expect(body.validateArgs({ a: "1" }).ok).toBe(false);
    expect(body.validateOutput?.({ sum: "2" }).ok).toBe(false);
    expect(body.validateOutput?.({ sum: 2 })).toEqual({ ok: true, value: { sum: 2 } });
    expect(await body.run({ args: { a: 1, b: 2 }, context: {}, infrastructure: {} }, run)).toEqual({ sum: 3 });
    expect(adaptPureTool({ definition: { ...definition, effects: "read" }, implementation }).effects).toBe("read");
  });

  it("is named in the message when its schema is wrong", () => {
    const wrong = { ...definition, outputSchema: { type: "objekt" } };
    expect(() => adaptPureTool({ definition: wrong, implementation })).toThrow(
      /"calc::add".*outputSchema\/type.*Did you mean "object"/,
    );
  });
});

describe("a tool of an MCP server", () => {
  const tool = {
    name: "files_read",
    description: "",
    serverId: "files",
    serverName: "files",
    parameters: { type: "object", properties: { path: { type: "string", pattern: "^(?!/)" } } },
  };

  it("is `once` by default, has a description, and is sent its args", async () => {
    const sent: unknown[] = [];
    const adapted: Tool = adaptMcpTool({ ...tool, estimatedEnergyCost: 4 }, { call: (args) => sent.push(args) });
    expect(adapted).toMatchObject({ id: "files_read", effects: "once", origin: "hub", estimatedEnergyUnits: 4 });
    expect(adapted.description).toContain("files");
    const body = await adapted.body();
    expect(body.validateArgs({ path: 1 }).ok).toBe(false);
    body.run({ args: { path: "a" }, context: {}, infrastructure: {} }, run);
    expect(sent).toEqual([{ path: "a" }]);
  });

  it("may use names that are infrastructure for actions", () => {
    const browser = { ...tool, parameters: { type: "object", properties: { sessionId: { type: "string" } } } };
    expect(adaptMcpTool(browser, { call: () => 1, effects: "read" }).effects).toBe("read");
  });

  it("is refused when its name or schema cannot be used", () => {
    expect(() => adaptMcpTool({ ...tool, name: "a b" }, { call: () => 1 })).toThrow(
      expect.objectContaining({ code: "tool_invalid" }),
    );
    expect(() => adaptMcpTool({ ...tool, parameters: { $ref: "http://x.y" } }, { call: () => 1 })).toThrow(
      expect.objectContaining({ code: "schema_invalid" }),
    );
  });
});
