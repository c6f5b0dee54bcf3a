import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createSystemClock } from "../../memory/clock.ts";
import { silentLogger } from "../../memory/logger.ts";
import { INLINE_LIMIT_BYTES } from "../../schema/blob.ts";
import { sha256Hex } from "../../schema/values/hash.ts";
import type { AllowedCall, CheckAnswer, DeniedCall, ToolCall } from "./call.ts";
import { MAX_ARGS_LENGTH } from "./check-call.ts";
import { defineAction } from "../define.ts";
import { createToolGate, type ToolGate } from "./gate.ts";
import type { ToolPolicy } from "./policy.ts";
import { ToolRegistry } from "../registry.ts";
import { MAX_LOAD_MS } from "../tool-bodies.ts";
import type { Tool } from "../tool.ts";
import { createSimulatedClock } from "../../../testing/simulated-clock.ts";

const registry = new ToolRegistry();
registry.register({
  name: "greet",
  description: "Says hello.",
  argsSchema: z.object({ who: z.string(), times: z.number().int().default(1) }),
  run: () => "hello",
});
registry.register({
  name: "hire",
  description: "Hires.",
  argsSchema: z.object({}),
  applicableRoles: ["hiring"],
  run: () => 1,
});
registry.register({
  name: "in-context",
  description: "Needs context.",
  argsSchema: z.object({}),
  requiredContext: ["userId", "role", "sessionId"],
  run: () => 1,
});
registry.register({
  name: "dated",
  description: "Takes a date.",
  argsSchema: z.object({ at: z.coerce.date() }),
  run: () => 1,
});
registry.register({ name: "priced", description: "Costs 5.", argsSchema: z.object({}), energyUnits: 5, run: () => 1 });
registry.register({ name: "anything", description: "Takes anything.", argsSchema: z.looseObject({}), run: () => 1 });
registry.register(
  defineAction({
    id: "search",
    description: "Searches.",
    argsSchema: z.object({ text: z.string(), limit: z.number() }),
    getDefaultArgs: ({ last, trap, leak }) => {
      if (trap !== undefined) throw new Error("sprung");
      return { text: last ?? "nothing", limit: 10, ...(leak === undefined ? {} : { supabase: leak }) };
    },
    actionFn: async () => ({ success: true }),
  }),
);
registry.register({
  definition: {
    id: "calc::add",
    description: "Adds.",
    parameters: {
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number", default: 2 } },
      required: ["a"],
      additionalProperties: false,
    },
  },
  implementation: async () => 1,
});

const gate = gateWith();

describe("check", () => {
  it("allows a valid call and says with what it will be made", () => {
    expect(check(gate, { toolId: "greet", args: { who: "Ada" } })).toEqual({
      kind: "allowed",
      toolId: "greet",
      owner: "o",
      resolvedArgs: { who: "Ada", times: 1 },
      argsHash: sha256Hex('{"times":1,"who":"Ada"}'),
      effects: "once",
      reservedUnits: 1,
    });
  });

  it("is synchronous as soon as the tool's code is there", async () => {
    const fresh = gateWith();
    const first = fresh.check(call({ toolId: "calc::add", args: { a: 1 } }));
    expect(first).toBeInstanceOf(Promise);
    expect(await first).toMatchObject({ kind: "allowed", resolvedArgs: { a: 1, b: 2 } });
    expect(fresh.check(call({ toolId: "calc::add", args: { a: 1 } }))).toMatchObject({ kind: "allowed" });
  });

  it("knows no such tool, and which one was meant", () => {
    expect(denied(check(gate, { toolId: "great" }))).toMatchObject({
      code: "tool_not_found",
      message: 'There is no tool "great". Did you mean "greet"?',
    });
  });

  it("keeps a tool to its roles; a caller without one is general", () => {
    expect(check(gate, { toolId: "hire", role: "hiring" })).toMatchObject({ kind: "allowed" });
    for (const role of ["candidate", "general", undefined]) {
      expect(denied(check(gate, { toolId: "hire", ...(role === undefined ? {} : { role }) }))).toMatchObject({
        code: "role_denied",
        details: { applicableRoles: ["hiring"] },
      });
    }
  });

  it("names every key of the context that is missing", () => {
    const error = denied(check(gate, { toolId: "in-context", context: { userId: null, toString: 1 } }));
    expect(error).toMatchObject({ code: "context_missing", details: { missing: ["userId", "role", "sessionId"] } });
    expect(check(gate, { toolId: "in-context", context: { userId: 1, role: "r" }, sessionId: "s" })).toMatchObject({
      kind: "allowed",
    });
  });

  it("reads the context only for tools that need it", () => {
    let reads = 0;
    const lazy = { ...call({ toolId: "greet", args: { who: "Ada" } }) };
    Object.defineProperty(lazy, "context", { get: () => ((reads += 1), {}) });
    expect(gate.check(lazy)).toMatchObject({ kind: "allowed" });
    expect(reads).toBe(0);
  });

  it("merges defaults under the args", () => {
    expect(allowed(check(gate, { toolId: "search", context: { last: "hi" } })).resolvedArgs).toEqual({
      text: "hi",
      limit: 10,
    });
    expect(allowed(check(gate, { toolId: "search", args: { limit: 3, text: undefined } })).resolvedArgs).toEqual({
      text: "nothing",
      limit: 3,
    });
    expect(denied(check(gate, { toolId: "search", args: { limit: null } })).code).toBe("args_invalid");
  });

  it("refuses defaults that fail or hold infrastructure", () => {
    expect(denied(check(gate, { toolId: "search", context: { trap: 1 } }))).toMatchObject({
      code: "tool_failed",
      message: 'getDefaultArgs of "search" failed: sprung',
    });
    expect(denied(check(gate, { toolId: "search", context: { leak: 1 } })).code).toBe("infrastructure_in_defaults");
  });

  it("names the tool and every issue of its args", async () => {
    const error = denied(check(gate, { toolId: "greet", args: { wo: "Ada", times: "x" } }));
    expect(error.code).toBe("args_invalid");
    expect(error.message).toContain('The arguments of "greet" are not valid');
    expect(error.details?.["issues"]).toMatchObject([{ path: "/who" }, { path: "/times" }]);
    expect(error.message).toContain('did you mean "who" by "wo"?');
    const strict = denied(await gate.check(call({ toolId: "calc::add", args: { a: "1", c: 3 } })));
    expect(strict.details?.["issues"]).toMatchObject([{ code: "unknown_field" }, { path: "/a", code: "type" }]);
  });

  it("takes args that are JSON, and nothing else", () => {
    for (const odd of [new Date(), 1n, () => 1, Number.NaN, new Map()]) {
      expect(denied(check(gate, { toolId: "anything", args: { odd } })).code).toBe("args_invalid");
    }
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    expect(denied(check(gate, { toolId: "anything", args: cycle })).message).toContain("contains itself");
  });

  it("lets no field pollute a prototype", () => {
    const named = JSON.parse('{"deep": [{"__proto__": {"admin": true}}]}') as Record<string, unknown>;
    expect(denied(check(gate, { toolId: "anything", args: named }))).toMatchObject({
      code: "args_invalid",
      message: expect.stringContaining('a field named "__proto__", at /deep/0/__proto__') as string,
    });
    const { resolvedArgs } = allowed(check(gate, { toolId: "anything", args: { constructor: 1 } }));
    expect(resolvedArgs["admin"]).toBeUndefined();
    expect(Object.getPrototypeOf(resolvedArgs)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
  });

  it("keeps what a schema takes, where what it makes of it is no JSON", () => {
    const at = "2026-01-01T00:00:00.000Z";
    expect(allowed(check(gate, { toolId: "dated", args: { at } })).resolvedArgs).toEqual({ at });
  });

  it("shares nothing with its caller's objects", () => {
    const args = { list: [1] };
    const { resolvedArgs } = allowed(check(gate, { toolId: "anything", args }));
    args.list.push(2);
    expect(resolvedArgs).toEqual({ list: [1] });
  });

  it("keeps large args as a blob that is named by their hash", () => {
    const bytesOf = (length: number) =>
      allowed(check(gate, { toolId: "anything", args: { text: "x".repeat(length) } }));
    const frame = '{"text":""}'.length;
    expect(bytesOf(INLINE_LIMIT_BYTES - frame).requestBlob).toBeUndefined();
    const large = bytesOf(INLINE_LIMIT_BYTES - frame + 1);
    expect(large.requestBlob?.ref).toMatchObject({ $blob: large.argsHash, bytes: INLINE_LIMIT_BYTES + 1 });
    expect(large.requestBlob?.bytes).toHaveLength(INLINE_LIMIT_BYTES + 1);
  });

  it("has a bound for args", () => {
    const textOf = (length: number) => ({
      toolId: "anything",
      args: { text: "x".repeat(length - '{"text":""}'.length) },
    });
    expect(allowed(check(gate, textOf(MAX_ARGS_LENGTH))).requestBlob?.ref.bytes).toBe(MAX_ARGS_LENGTH);
    expect(denied(check(gate, textOf(MAX_ARGS_LENGTH + 1)))).toMatchObject({
      code: "args_invalid",
      details: { issues: [{ code: "too_large" }] },
    });
  }, 30_000);

  it("charges the session's own budget, to the last unit", () => {
    expect(check(gate, { toolId: "priced", energy: { remaining: 5 } })).toMatchObject({
      kind: "allowed",
      reservedUnits: 5,
    });
    expect(denied(check(gate, { toolId: "priced", energy: { remaining: 4.99 } })).code).toBe("energy_exhausted");
    expect(check(gate, { toolId: "priced", energy: {} })).toMatchObject({ kind: "allowed" });
  });

  it("answers every call that is no call", () => {
    const good = call({ toolId: "greet", args: { who: "Ada" } });
    const bad: unknown[] = [
      null,
      1,
      [],
      {},
      { ...good, toolId: 1 },
      { ...good, args: [] },
      { ...good, args: null },
      { ...good, caller: undefined },
      { ...good, caller: { kind: "friend", owner: "o" } },
      { ...good, caller: { kind: "cli" } },
      { ...good, caller: { kind: "cli", owner: "o", role: 1 } },
      { ...good, caller: { kind: "cli", owner: "o", approved: "yes" } },
      { ...good, sessionId: 1 },
      { ...good, energy: { remaining: Number.NaN } },
      ...[0, -1, 1.5, Number.NaN, 86_400_001, "1"].map((timeoutMs) => ({ ...good, timeoutMs })),
    ];
    for (const wrong of bad) expect(denied(gate.check(wrong as ToolCall) as CheckAnswer).code).toBe("input_invalid");
    expect(gate.check({ ...good, timeoutMs: 86_400_000 })).toMatchObject({ kind: "allowed", timeoutMs: 86_400_000 });
  });
});

describe("the policy", () => {
  const greetCall = { toolId: "greet", args: { who: "Ada" } };

  it("is asked with what the call will be made with", () => {
    const asked: unknown[] = [];
    check(
      gateWith((question) => (asked.push(question), { kind: "allow" })),
      { ...greetCall, sessionId: "s" },
    );
    expect(asked).toMatchObject([
      {
        tool: { id: "greet" },
        args: { who: "Ada", times: 1 },
        caller: { owner: "o" },
        sessionId: "s",
        estimatedUnits: 1,
      },
    ]);
  });

  it("may want a person's yes, and is content with one", () => {
    const asking = gateWith(() => ({ kind: "needs_approval", reason: "it writes" }));
    expect(check(asking, greetCall)).toMatchObject({
      kind: "needs_approval",
      reason: "it writes",
      resolvedArgs: { who: "Ada" },
    });
    expect(check(asking, { ...greetCall, approved: true })).toMatchObject({ kind: "allowed" });
  });

  it("is not asked to approve what the session cannot pay for", () => {
    const asking = gateWith(() => ({ kind: "needs_approval", reason: "it writes" }));
    expect(denied(check(asking, { ...greetCall, energy: { remaining: 0 } })).code).toBe("energy_exhausted");
  });

  it("may deny, also what was approved", () => {
    const denying = gateWith(() => ({ kind: "deny", reason: "not on Sundays" }));
    expect(denied(check(denying, { ...greetCall, approved: true }))).toMatchObject({
      code: "approval_denied",
      message: '"greet" may not be called: not on Sundays',
    });
  });

  it("may take its time", async () => {
    const slow = gateWith(async () => ({ kind: "allow" }));
    expect(await slow.check(call(greetCall))).toMatchObject({ kind: "allowed" });
  });

  it("has not said yes when it fails or answers nonsense", async () => {
    const nonsense = [undefined, null, {}, { kind: "yes" }, true].map(
      (answer) => (() => answer) as unknown as ToolPolicy,
    );
    const failing: ToolPolicy[] = [
      () => {
        throw new Error("no idea");
      },
      () => Promise.reject(new Error("no idea")),
      ...nonsense,
    ];
    for (const policy of failing) {
      expect(denied(await gateWith(policy).check(call(greetCall))).code).toBe("approval_denied");
    }
  });
});

describe("a tool whose code is loaded at first call", () => {
  const listing = registry.register({ name: "listing", description: "L", argsSchema: z.object({}), run: () => 1 });

  it("is loaded once for all that wait, and again after a failure", async () => {
    let loads = 0;
    const lazily = new ToolRegistry();
    lazily.register({
      ...listing,
      id: "lazy",
      body: async () => {
        loads += 1;
        if (loads === 1) throw new Error("disk on fire");
        return listing.body();
      },
    });
    const gated = gateWith(undefined, lazily);
    const lazy = call({ toolId: "lazy" });
    const [first, second] = await Promise.all([gated.check(lazy), gated.check(lazy)]);
    expect(denied(first)).toMatchObject({
      code: "capability_broken",
      message: 'The code of "lazy" could not be loaded: disk on fire',
    });
    expect(denied(second).code).toBe("capability_broken");
    expect(loads).toBe(1);
    expect(await gated.check(lazy)).toMatchObject({ kind: "allowed" });
    expect(gated.check(lazy)).toMatchObject({ kind: "allowed" });
    expect(loads).toBe(2);
  });

  it("is given up when it does not load in time", async () => {
    const clock = createSimulatedClock();
    const stuck = new ToolRegistry();
    stuck.register({ ...listing, id: "stuck", body: () => new Promise<never>(() => {}) } satisfies Tool);
    const answer = createToolGate({ registry: stuck, clock, logger: silentLogger }).check(call({ toolId: "stuck" }));
    expect(clock.jump()).toBe(true);
    expect(denied(await answer).message).toContain(`${String(MAX_LOAD_MS / 1000)} s`);
  });
});

type Asked = Partial<Omit<ToolCall, "caller">> & {
  readonly toolId: string;
  readonly role?: string;
  readonly approved?: boolean;
};

function call({ role, approved, ...asked }: Asked): ToolCall {
  const caller = {
    kind: "cli",
    owner: "o",
    ...(role === undefined ? {} : { role }),
    ...(approved === undefined ? {} : { approved }),
  } as const;
  return { args: {}, context: {}, caller, ...asked };
}

function gateWith(policy?: ToolPolicy, tools: ToolRegistry = registry): ToolGate {
  const deps = { registry: tools, clock: createSystemClock(), logger: silentLogger };
  return createToolGate(policy === undefined ? deps : { ...deps, policy });
}

function check(gated: ToolGate, asked: Asked): CheckAnswer {
  const answer = gated.check(call(asked));
  if (answer instanceof Promise) throw new Error("the gate did not answer at once");
  return answer;
}

function allowed(answer: CheckAnswer): AllowedCall {
  if (answer.kind !== "allowed") throw new Error(`not allowed: ${JSON.stringify(answer)}`);
  return answer;
}

function denied(answer: CheckAnswer): DeniedCall["error"] {
  if (answer.kind !== "denied") throw new Error(`not denied: ${JSON.stringify(answer)}`);
  return answer.error;
}
