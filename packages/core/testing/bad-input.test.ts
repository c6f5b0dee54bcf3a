import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import * as engine from "../src/engine.ts";
import * as hub from "../src/hub.ts";
import * as core from "../src/index.ts";
import * as schema from "../src/schema.ts";
import { TRAP_MESSAGE, made, oddDictionary, oddObject, oddValue, type Made } from "./odd-values.ts";
import { createSimulatedClock } from "./simulated-clock.ts";

/** No single piece of bad input may take longer. */
const PATIENCE_MS = 5_000;

describe("every schema", () => {
  const schemas = Object.entries<unknown>({ ...core, ...schema, ...engine, ...hub }).filter(isSchema);

  it("is found", () => {
    expect(schemas.map(([name]) => name)).toEqual(
      expect.arrayContaining(["AgenticPlan", "Json", "MCPRequest", "ToolDefinition"]),
    );
  });

  it.each(schemas)(
    "%s takes a value or refuses it with a ZodError, in time",
    (_name, schema) => {
      fc.assert(
        fc.property(oddValue(), (make) => {
          expect(withinPatience(() => parseOutcome(schema, make()))).toMatch(/^(?:parsed|refused)$/);
        }),
        { numRuns: 40 },
      );
    },
    60_000,
  );
});

describe("the registry", () => {
  it("takes a tool or refuses it with a typed error, and a refusal changes nothing", () => {
    fc.assert(
      fc.property(oddForm(), (make) => {
        const registry = new core.ToolRegistry();
        const outcome = withinPatience(() => registerOutcome(registry, make()));
        expect([
          "registered",
          "tool_invalid",
          "schema_invalid",
          "infrastructure_in_args",
          "infrastructure_in_defaults",
        ]).toContain(outcome);
        expect(registry.list()).toHaveLength(outcome === "registered" ? 1 : 0);
      }),
      { numRuns: 500 },
    );
  }, 60_000);
});

describe("the gate", () => {
  const { gate } = gateOver(() => null);

  it("answers whatever it is asked", async () => {
    await fc.assert(
      fc.asyncProperty(oddCall(), async (make) => {
        const started = performance.now();
        const answer = await gate.check(make() as engine.ToolCall);
        expect(["allowed", "needs_approval", "denied"]).toContain(answer.kind);
        expect(schema.jsonProblem(withoutBytes(answer))).toBeUndefined();
        expect(performance.now() - started).toBeLessThan(PATIENCE_MS);
      }),
      { numRuns: 400 },
    );
  }, 60_000);

  it("calls no tool with args that its schema does not take", async () => {
    const seen: unknown[] = [];
    const { gate: watched } = gateOver((args) => seen.push(args));
    const good = made(fc.record({ n: fc.integer(), text: fc.string() }));
    await fc.assert(
      fc.asyncProperty(fc.oneof(good, oddDictionary(fc.string())), async (make) => {
        const args = make() as Record<string, unknown>;
        const answer = await watched.check({
          toolId: "fuzz::t",
          args,
          context: {},
          caller: { kind: "http", owner: "o" },
        });
        if (answer.kind === "allowed") await watched.invoke(answer, { idempotencyKey: "k", context: {} });
      }),
      { numRuns: 200 },
    );
    expect(seen.length).toBeGreaterThan(0);
    const Args = z.strictObject({ n: z.int(), text: z.string() });
    expect(seen.filter((args) => !Args.safeParse(args).success)).toEqual([]);
  }, 60_000);

  it("settles every call, whatever its tool does, with an outcome that can be written", async () => {
    const behaviour = fc.record({
      how: fc.constantFrom(
        "return" as const,
        "resolve" as const,
        "throw" as const,
        "reject" as const,
        "never" as const,
        "then" as const,
      ),
      make: oddValue(),
      effects: fc.constantFrom("pure" as const, "read" as const, "idempotent" as const, "once" as const),
      cancel: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(behaviour, async ({ how, make, effects, cancel }) => {
        const { gate: fuzzed, clock } = gateOver(() => behave(how, make()), effects);
        const call = await fuzzed.check({
          toolId: "fuzz::t",
          args: { n: 1, text: "" },
          context: {},
          caller: { kind: "mcp", owner: "o" },
        });
        const controller = new AbortController();
        const pending = fuzzed.invoke(call as engine.AllowedCall, {
          idempotencyKey: "k",
          context: {},
          signal: controller.signal,
        });
        await turn();
        if (cancel) controller.abort();
        while (clock.jump()) await turn();
        const outcome = await pending;
        expect(schema.jsonProblem(withoutBytes(outcome))).toBeUndefined();
        expect(codesFor(effects)).toContain(outcome.kind === "ok" ? "ok" : outcome.error.code);
      }),
      { numRuns: 200 },
    );
  }, 60_000);
});

function isSchema(entry: [string, unknown]): entry is [string, z.ZodType] {
  return entry[1] instanceof z.ZodType;
}

function parseOutcome(schema: z.ZodType, value: unknown): string {
  try {
    schema.parse(value);
    return "parsed";
  } catch (thrown) {
    if (thrown instanceof z.ZodError) return "refused";
    // What a value's own traps throw is the value's, not the schema's.
    return isTrapped(thrown) ? "refused" : String(thrown);
  }
}

function isTrapped(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message === TRAP_MESSAGE;
}

function registerOutcome(registry: core.ToolRegistry, form: unknown): string {
  try {
    registry.register(form as engine.ToolForm);
    return "registered";
  } catch (thrown) {
    return core.isErgonError(thrown) ? thrown.code : String(thrown);
  }
}

function withinPatience<T>(work: () => T): T {
  const started = performance.now();
  const done = work();
  if (performance.now() - started > PATIENCE_MS) throw new Error("it took too long");
  return done;
}

/** Fields of all authoring forms, most of them right, or anything at all. */
function oddForm(): fc.Arbitrary<Made> {
  const schema = fc.constantFrom(z.object({ a: z.string() }), z.object({ sessionId: z.string() }), z.string());
  const defaults = fc.constantFrom(
    () => ({}),
    () => ({ supabase: 1 }),
    () => null,
  );
  const parameters = fc.oneof(fc.constant({ type: "object" }), fc.jsonValue());
  const form = oddObject({
    id: mostly(fc.constant("a")),
    name: mostly(fc.constant("a")),
    description: mostly(fc.constant("A.")),
    argsSchema: mostly(schema),
    run: mostly(fc.constant(() => 1)),
    actionFn: mostly(fc.constant(async () => ({ success: true }))),
    getDefaultArgs: mostly(defaults),
    definition: mostly(fc.record({ id: fc.constant("a"), description: fc.constant("A."), parameters })),
    implementation: mostly(fc.constant(() => 1)),
    body: mostly(fc.constant(() => ({}))),
    effects: mostly(fc.constantFrom("pure", "once")),
    requiredArgs: mostly(fc.array(fc.string())),
  });
  return fc.oneof({ arbitrary: form, weight: 5 }, { arbitrary: oddValue(), weight: 1 });
}

function oddCall(): fc.Arbitrary<Made> {
  const call = oddObject({
    toolId: mostly(fc.constantFrom("fuzz::t", "fuzz::other")),
    args: oddDictionary(fc.constantFrom("n", "text", "__proto__", "x")),
    context: oddValue(),
    caller: mostly(fc.constant({ kind: "cli", owner: "o" })),
    sessionId: mostly(fc.string()),
    energy: mostly(fc.constant({ remaining: 10 })),
    timeoutMs: mostly(fc.constant(1_000)),
  });
  return fc.oneof({ arbitrary: call, weight: 5 }, { arbitrary: oddValue(), weight: 1 });
}

function mostly(right: fc.Arbitrary<unknown>): fc.Arbitrary<Made> {
  return fc.oneof({ arbitrary: made(right), weight: 5 }, { arbitrary: oddValue(), weight: 1 });
}

function gateOver(run: (args: unknown) => unknown, effects: core.Effects = "pure") {
  const registry = new core.ToolRegistry();
  const parameters = {
    type: "object",
    properties: { n: { type: "integer" }, text: { type: "string" } },
    required: ["n", "text"],
    additionalProperties: false,
  };
  registry.register({ definition: { id: "fuzz::t", description: "T.", parameters, effects }, implementation: run });
  const clock = createSimulatedClock();
  return { gate: engine.createToolGate({ registry, clock, logger: core.silentLogger }), clock };
}

function behave(how: "return" | "resolve" | "throw" | "reject" | "never" | "then", value: unknown): unknown {
  const settle = (name: "then", call: (ok: (given: unknown) => void, no: (given: unknown) => void) => void) =>
    Object.defineProperty({}, name, { value: call });
  switch (how) {
    case "return":
      return value;
    case "resolve":
      return settle("then", (ok) => ok(value));
    case "reject":
      return settle("then", (_ok, no) => no(value));
    case "throw":
      return settle("then", () => {
        throw value instanceof Error ? value : new Error("thrown");
      });
    case "then":
      return settle("then", (ok, no) => {
        no(value);
        ok(value);
      });
    case "never":
      return settle("then", () => {});
  }
}

function codesFor(effects: core.Effects): readonly string[] {
  const always = ["ok", "tool_failed", "output_invalid"];
  return effects === "once" ? [...always, "outcome_unknown"] : [...always, "tool_timeout", "cancelled"];
}

/** Blobs are bytes by design; all else is to be JSON. */
function withoutBytes(answer: object): object {
  return Object.fromEntries(Object.entries(answer).filter(([key]) => key !== "blobs" && key !== "requestBlob"));
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
