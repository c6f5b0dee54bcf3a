import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createSimulatedClock } from "../../../testing/simulated-clock.ts";
import { ErgonError } from "../../errors/ergon-error.ts";
import { createMemoryBlobStore } from "../../memory/blob-store.ts";
import { createSystemClock } from "../../memory/clock.ts";
import { createMemoryLogger, silentLogger } from "../../memory/logger.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ISandboxService } from "../../ports/sandbox.ts";
import { INLINE_LIMIT_BYTES } from "../../schema/blob.ts";
import { sha256Hex } from "../../schema/values/hash.ts";
import type { Effects } from "../../schema/tool.ts";
import type { AllowedCall, CallOutcome, InvokeOptions } from "./call.ts";
import { MAX_ERROR_MESSAGE } from "./call-failure.ts";
import { MAX_OUTPUT_LENGTH } from "./call-output.ts";
import { MAX_PROGRESS_MESSAGE, MAX_PROGRESS_PER_SECOND } from "./call-progress.ts";
import { createToolGate } from "./gate.ts";
import { MAX_BLOBS_PER_CALL } from "./call-run.ts";
import { DEFAULT_TIMEOUT_MS } from "./invoke-call.ts";
import { ToolRegistry } from "../registry.ts";
import type { ProgressUpdate } from "../../schema/tool.ts";
import type { ToolRun } from "../tool.ts";

describe("invoke", () => {
  it("calls with args, context and infrastructure, and returns the rows for a commit", async () => {
    const clock = createSimulatedClock();
    const { invoke } = world({
      clock,
      run: (params, run) => {
        clock.sleep(1_500).catch(() => undefined);
        clock.jump();
        return { got: params.args, user: params.context["user"], key: run.idempotencyKey, owner: run.owner };
      },
    });
    const outcome = await invoke({ n: 1 }, { context: { user: "u" } });
    expect(outcome).toEqual({
      kind: "ok",
      output: { got: { n: 1 }, user: "u", key: "key", owner: "o" },
      energyUnits: 3,
      durationMs: 1_500,
      blobs: [],
      rows: {
        energy: { at: "2026-01-01T00:00:01.500Z", cause: "tool", units: 3, toolId: "t", reference: "key" },
        events: [
          { type: "energy-spent", at: "2026-01-01T00:00:01.500Z", data: { cause: "tool", toolId: "t", units: 3 } },
        ],
      },
    });
  });

  it("charges a fixed price for a failed call too, and nothing for one that was never made", async () => {
    const { invoke, registry } = world({ more: { energyUnits: 7 }, run: () => Promise.reject(new Error("no")) });
    expect(await invoke()).toMatchObject({ kind: "failed", energyUnits: 7, rows: { energy: { units: 7 } } });
    const aborted = await invoke({}, { signal: AbortSignal.abort() });
    expect(aborted).toMatchObject({
      kind: "failed",
      error: { code: "cancelled" },
      energyUnits: 0,
      rows: { events: [] },
    });
    registry.unregister("t");
    expect(await invoke()).toMatchObject({ kind: "failed", error: { code: "tool_not_found" }, energyUnits: 0 });
  });

  it("makes only calls that were allowed", async () => {
    const { gate, invoke } = world({ run: () => 1 });
    expect(await invoke()).toMatchObject({ kind: "ok" });
    const waiting = { kind: "needs_approval" } as unknown as AllowedCall;
    await expect(gate.invoke(waiting, { idempotencyKey: "k", context: {} })).rejects.toMatchObject({
      code: "input_invalid",
    });
  });

  it("lets a tool hand a copy of what it was given to others", async () => {
    const heard: ProgressUpdate[] = [];
    const helper = ({ signal, idempotencyKey, progress, logger }: ToolRun): string => {
      progress({ message: `${String(signal.aborted)} ${idempotencyKey}` });
      logger.info({}, "helped");
      return idempotencyKey;
    };
    const { invoke } = world({ run: (_params, run) => helper({ ...run }) });
    expect(await invoke({}, { progress: (update) => heard.push(update) })).toMatchObject({ output: "key" });
    expect(heard).toEqual([{ message: "false key" }]);
  });

  it("gives the tool a copy of its args", async () => {
    const { invoke, allowed } = world({ run: ({ args }) => (args["list"] as number[]).push(9) });
    const call = await allowed({ list: [1] });
    expect(await invoke({}, {}, call)).toMatchObject({ kind: "ok", output: 2 });
    expect(call.resolvedArgs).toEqual({ list: [1] });
  });

  it("gives the tool what its schema made, also where that is no JSON", async () => {
    const { invoke } = world({
      more: { argsSchema: z.object({ at: z.coerce.date() }) },
      run: ({ args }) => (args["at"] as Date).getUTCFullYear(),
    });
    expect(await invoke({ at: "2026-01-01" })).toMatchObject({ kind: "ok", output: 2026 });
  });
});

describe("what a tool is lent", () => {
  const store = createMemoryBlobStore();
  const blobs = {
    put: (content: Uint8Array, mediaType: string) => store.put(content, mediaType),
    get: ({ $blob }: { readonly $blob: string }) => store.get($blob),
  };
  const bytes = new Uint8Array([1, 2, 3]);

  it("is the context of its call and the data roots of its gate", async () => {
    const run: Run = (_params, { context, dataRoots }) => ({ user: context["user"], dataRoots });
    const { invoke } = world({ dataRoots: ["/data"], run });
    expect(await invoke({}, { context: { user: "u" } })).toMatchObject({ output: { user: "u", dataRoots: ["/data"] } });
    expect(await world({ run }).invoke()).toMatchObject({ output: { dataRoots: [] } });
  });

  it("is a place for bytes, whose references come back for the commit", async () => {
    const { invoke } = world({ run: async (_params, run) => ({ data: await run.blobs.put(bytes, "image/png") }) });
    const outcome = await invoke({}, { blobs });
    const ref = { $blob: sha256Hex(bytes), bytes: 3, mediaType: "image/png" };
    expect(outcome).toMatchObject({ kind: "ok", output: { data: ref }, blobs: [{ ref }] });
    const { invoke: read } = world({ run: async (_params, run) => [...(await run.blobs.get(ref))] });
    expect(await read({}, { blobs })).toMatchObject({ output: [1, 2, 3] });
  });

  it("leaves nothing to commit when the call fails", async () => {
    const { invoke } = world({
      run: async (_params, run) => {
        await run.blobs.put(bytes, "image/png");
        throw new Error("no");
      },
    });
    expect(await invoke({}, { blobs })).toMatchObject({ kind: "failed", blobs: [] });
  });

  it("is bounded", async () => {
    const puts = (count: number) =>
      world({
        run: async (_params, run) => {
          for (let n = 0; n < count; n++) await run.blobs.put(bytes, "image/png");
        },
      }).invoke({}, { blobs });
    expect(await puts(MAX_BLOBS_PER_CALL)).toMatchObject({ kind: "ok" });
    expect(await puts(MAX_BLOBS_PER_CALL + 1)).toMatchObject({ error: { details: { code: "not_available" } } });
  });

  it("is refused where the caller keeps no blobs", async () => {
    const { invoke } = world({ run: async (_params, run) => run.blobs.put(bytes, "image/png") });
    expect(await invoke()).toMatchObject({ kind: "failed", error: { details: { code: "not_available" } } });
  });
});

describe("the time limit", () => {
  it("ends a call whose tool ignores its signal, and drops what comes later", async () => {
    const clock = createSimulatedClock();
    const logger = createMemoryLogger();
    let finish: ((value: string) => void) | undefined;
    let signal: AbortSignal | undefined;
    const { invoke } = world({
      clock,
      logger,
      effects: "read",
      run: (_params, run) => {
        ({ signal } = run);
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    });
    const pending = invoke();
    await turn();
    clock.jump();
    expect(await pending).toMatchObject({
      kind: "failed",
      error: { code: "tool_timeout", retryable: true },
      durationMs: DEFAULT_TIMEOUT_MS,
    });
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ code: "tool_timeout" });
    finish?.("late");
    await turn();
    expect(logger.entries()).toMatchObject([{ level: "warn", fields: { toolId: "t", idempotencyKey: "key" } }]);
  });

  it("is the call's, else the tool's, else the default", async () => {
    for (const [callMs, toolMs, expected] of [
      [10, 20, 10],
      [undefined, 20, 20],
      [undefined, undefined, DEFAULT_TIMEOUT_MS],
    ] as const) {
      const clock = createSimulatedClock();
      const { invoke, allowed } = world({
        clock,
        effects: "read",
        more: toolMs === undefined ? {} : { timeoutMs: toolMs },
        run: never,
      });
      const call = await allowed({}, callMs);
      const pending = invoke({}, {}, call);
      await turn();
      clock.jump();
      expect(await pending).toMatchObject({ error: { code: "tool_timeout" }, durationMs: expected });
    }
  });

  it("leaves the outcome of a `once` call unknown, by time and by cancel", async () => {
    const clock = createSimulatedClock();
    const { invoke } = world({ clock, run: never });
    const timed = invoke();
    await turn();
    clock.jump();
    expect(await timed).toMatchObject({ error: { code: "outcome_unknown", retryable: false } });
    const controller = new AbortController();
    const stopped = invoke({}, { signal: controller.signal });
    await turn();
    controller.abort();
    expect(await stopped).toMatchObject({ error: { code: "outcome_unknown" } });
  });

  it("cancels a call when its caller does, with the caller's reason", async () => {
    const controller = new AbortController();
    const reasons: unknown[] = [];
    const { invoke } = world({
      effects: "idempotent",
      run: (_params, run) => {
        run.signal.addEventListener("abort", () => reasons.push(run.signal.reason));
        return never();
      },
    });
    const pending = invoke({}, { signal: controller.signal });
    await turn();
    controller.abort("enough");
    expect(await pending).toMatchObject({ error: { code: "cancelled", retryable: false } });
    expect(reasons).toEqual(["enough"]);
  });

  it("loses against a result that has arrived", async () => {
    const clock = createSimulatedClock();
    const { invoke } = world({ clock, run: async () => "in time" });
    const pending = invoke();
    await turn();
    expect(clock.jump()).toBe(false);
    expect(await pending).toMatchObject({ kind: "ok", output: "in time" });
  });

  it("leaves no timer and no listener behind", async () => {
    const real = createSystemClock();
    let timers = 0;
    const clock: Clock = {
      ...real,
      after: (ms, callback) => {
        timers += 1;
        const stop = real.after(ms, () => {
          timers -= 1;
          callback();
        });
        return () => {
          timers -= 1;
          stop();
        };
      },
    };
    const controller = new AbortController();
    const { signal } = controller;
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...given: Parameters<typeof add>) => ((listeners += 1), add(...given));
    signal.removeEventListener = (...given: Parameters<typeof remove>) => ((listeners -= 1), remove(...given));
    const { invoke } = world({
      clock,
      run: async ({ args }) => (args["fail"] === true ? Promise.reject(new Error("no")) : 1),
    });
    await Promise.all(Array.from({ length: 100 }, (_, n) => invoke({ fail: n % 2 === 0 }, { signal })));
    expect({ timers, listeners }).toEqual({ timers: 0, listeners: 0 });
  });
});

describe("the output", () => {
  const returning = (value: unknown, more: object = {}) => world({ more, run: () => value }).invoke();

  it("is plain JSON; nothing is null, and fields that are undefined are left out", async () => {
    expect(await returning(undefined)).toMatchObject({ kind: "ok", output: null });
    expect(await returning({ a: undefined, b: [{ c: undefined }] })).toMatchObject({ kind: "ok", output: { b: [{}] } });
    const outcome = await returning({ a: undefined });
    expect(outcome.kind === "ok" && JSON.stringify(outcome.output)).toBe("{}");
  });

  it("is refused when JSON cannot hold it, with the place", async () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const trap = Object.defineProperty({}, "x", {
      enumerable: true,
      get: () => {
        throw new Error("sprung");
      },
    });
    let bomb: unknown = 0;
    for (let i = 0; i < 40; i += 1) bomb = [bomb, bomb];
    for (const value of [new Date(), [undefined], 1n, () => 1, Number.NaN, cycle, new Map(), trap, bomb, Symbol("s")]) {
      expect(await returning(value)).toMatchObject({ kind: "failed", error: { code: "output_invalid" } });
    }
    const outcome = await returning({ rows: [{ at: new Date() }] });
    expect(outcome.kind === "failed" && outcome.error.message).toContain("at /rows/0/at");
  });

  it("shares nothing with the tool's own objects", async () => {
    const own = { list: [1] };
    const outcome = await returning(own);
    own.list.push(2);
    expect(outcome).toMatchObject({ kind: "ok", output: { list: [1] } });
  });

  it("is validated, and is what its schema made of it", async () => {
    const outputSchema = z.object({ n: z.number() });
    expect(await returning({ n: 1, extra: 2 }, { outputSchema })).toMatchObject({ kind: "ok", output: { n: 1 } });
    expect(await returning({ n: "1" }, { outputSchema })).toMatchObject({
      kind: "failed",
      error: { code: "output_invalid", details: { toolId: "t", issues: [{ path: "/n" }] } },
    });
    const dated = z.object({}).transform(() => new Date());
    expect(await returning({}, { outputSchema: dated })).toMatchObject({ error: { code: "output_invalid" } });
  });

  it("becomes a blob past the inline limit, counted in bytes", async () => {
    const text = (bytes: number) => "x".repeat(bytes - 2);
    expect(await returning(text(INLINE_LIMIT_BYTES))).toMatchObject({ kind: "ok", blobs: [] });
    const outcome = await returning(text(INLINE_LIMIT_BYTES + 1));
    const [blob] = outcome.blobs;
    expect(outcome).toMatchObject({ kind: "ok", output: blob?.ref });
    expect(blob?.ref).toMatchObject({ bytes: INLINE_LIMIT_BYTES + 1, mediaType: "application/json" });
    expect(new TextDecoder().decode(blob?.bytes)).toBe(JSON.stringify(text(INLINE_LIMIT_BYTES + 1)));
    expect((await returning({ greek: "ω".repeat(INLINE_LIMIT_BYTES / 2) })).blobs).toHaveLength(1);
  });

  it("has a bound", async () => {
    const text = (length: number) => "x".repeat(length - 2);
    expect((await returning(text(MAX_OUTPUT_LENGTH))).blobs[0]?.ref.bytes).toBe(MAX_OUTPUT_LENGTH);
    expect(await returning(text(MAX_OUTPUT_LENGTH + 1))).toMatchObject({ error: { code: "output_invalid" } });
  }, 30_000);
});

describe("a tool that fails", () => {
  const throwing = async (thrown: unknown, effects: Effects = "once") => {
    const outcome = await world({ effects, run: () => rejecting(thrown) }).invoke();
    return outcome.kind === "failed" ? outcome.error : undefined;
  };

  it("keeps its message and loses its stack", async () => {
    const error = await throwing(new Error("disk full"));
    expect(error).toEqual({ code: "tool_failed", message: "disk full", retryable: false, details: { toolId: "t" } });
  });

  it("says itself whether it may be tried again", async () => {
    const error = await throwing(
      new ErgonError("rate_limited", "slow down", { retryable: true, details: { afterMs: 5 } }),
    );
    expect(error).toEqual({
      code: "tool_failed",
      message: "slow down",
      retryable: true,
      details: { toolId: "t", code: "rate_limited", details: { afterMs: 5 } },
    });
  });

  it("may say that nobody knows what happened; that matters where a call must not be repeated", async () => {
    const lost = new ErgonError("outcome_unknown", "connection lost after sending");
    expect(await throwing(lost, "once")).toMatchObject({ code: "outcome_unknown", retryable: false });
    expect(await throwing(lost, "read")).toMatchObject({ code: "tool_failed", retryable: true });
  });

  it("may throw anything", async () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("get");
        },
        has: () => {
          throw new Error("has");
        },
        getPrototypeOf: () => {
          throw new Error("proto");
        },
      },
    );
    const odd = [
      null,
      undefined,
      "text",
      42,
      1n,
      Symbol("s"),
      {},
      [],
      { message: "from a client" },
      {
        get message(): string {
          throw new Error("trap");
        },
      },
      hostile,
      new Error(""),
      Object.create(null),
    ];
    for (const thrown of odd) {
      const error = await throwing(thrown);
      expect(error?.code).toBe("tool_failed");
      expect(error?.message).not.toBe("");
    }
    expect((await throwing({ message: "from a client" }))?.message).toBe("from a client");
    expect((await throwing(new Error("x".repeat(MAX_ERROR_MESSAGE))))?.message).toBe("x".repeat(MAX_ERROR_MESSAGE));
    expect((await throwing(new Error("x".repeat(MAX_ERROR_MESSAGE + 1))))?.message).toBe(
      `${"x".repeat(MAX_ERROR_MESSAGE)}…`,
    );
  });

  it("may throw at once, return strange thenables, or settle twice", async () => {
    const fail = (message: string) => () => {
      throw new Error(message);
    };
    const strange: (() => unknown)[] = [
      fail("at once"),
      () => thenable({ value: fail("in then") }),
      () => thenable({ get: fail("getter") }),
      () => rejecting(new Error("no")),
    ];
    for (const run of strange) {
      expect(await world({ run }).invoke()).toMatchObject({ kind: "failed", error: { code: "tool_failed" } });
    }
    const resolveTwice = (ok: (value: number) => void): void => {
      ok(1);
      ok(2);
    };
    const twice = thenable({ value: resolveTwice });
    expect(await world({ run: () => twice }).invoke()).toMatchObject({ kind: "ok", output: 1 });
  });

  it("after its call is over is logged, not thrown into the process", async () => {
    const logger = createMemoryLogger();
    const clock = createSimulatedClock();
    const { invoke } = world({
      clock,
      logger,
      effects: "read",
      run: (_params, run) =>
        new Promise((_resolve, reject) => {
          run.signal.addEventListener("abort", () => reject(new Error("late")));
        }),
    });
    const pending = invoke();
    await turn();
    clock.jump();
    expect(await pending).toMatchObject({ error: { code: "tool_timeout" } });
    await turn();
    expect(logger.entries()).toMatchObject([{ level: "warn", message: "A tool failed after its call was over." }]);
  });

  it.each([
    ["the reason of its signal", (signal: AbortSignal): Error => signal.reason as Error],
    ["an AbortError", (): Error => new DOMException("Stopped.", "AbortError")],
  ])("that is %s is not logged: the tool stopped as it was asked to", async (_what, thrown) => {
    const logger = createMemoryLogger();
    const clock = createSimulatedClock();
    const { invoke } = world({
      clock,
      logger,
      effects: "read",
      run: (_params, run) =>
        new Promise((_resolve, reject) => {
          run.signal.addEventListener("abort", () => reject(thrown(run.signal)));
        }),
    });
    const pending = invoke();
    await turn();
    clock.jump();
    expect(await pending).toMatchObject({ error: { code: "tool_timeout" } });
    await turn();
    expect(logger.entries()).toEqual([]);
  });
});

describe("progress", () => {
  it("is clamped, cut and cleaned", async () => {
    const heard: ProgressUpdate[] = [];
    const odd = [
      { fraction: 2 },
      { fraction: -1 },
      { fraction: Number.NaN },
      { message: "x".repeat(1_000) },
      null,
      "half",
      {},
      { fraction: 0.5, message: "half" },
    ];
    const { invoke } = world({
      run: (_params, run) => {
        for (const update of odd) run.progress(update as ProgressUpdate);
      },
    });
    await invoke({}, { progress: (update) => heard.push(update) });
    expect(heard).toEqual([
      { fraction: 1 },
      { fraction: 0 },
      { message: "x".repeat(MAX_PROGRESS_MESSAGE) },
      { fraction: 0.5, message: "half" },
    ]);
  });

  it("is heard so often a second, and never after the end", async () => {
    const clock = createSimulatedClock();
    const heard: ProgressUpdate[] = [];
    let report: ToolRun["progress"] | undefined;
    const { invoke } = world({
      clock,
      run: async (_params, run) => {
        report = run.progress;
        for (let i = 0; i < 100; i += 1) run.progress({ fraction: i / 100 });
        const slept = clock.sleep(1_000);
        clock.jump();
        await slept;
        run.progress({ fraction: 1 });
      },
    });
    await invoke({}, { progress: (update) => heard.push(update) });
    expect(heard).toHaveLength(MAX_PROGRESS_PER_SECOND + 1);
    report?.({ message: "too late" });
    expect(heard).toHaveLength(MAX_PROGRESS_PER_SECOND + 1);
  });

  it("cannot break a tool, whoever listens", async () => {
    const { invoke } = world({
      run: (_params, run) => {
        run.progress({ fraction: 0.5 });
        return "done";
      },
    });
    const outcome = await invoke(
      {},
      {
        progress: () => {
          throw new Error("full");
        },
      },
    );
    expect(outcome).toMatchObject({ kind: "ok", output: "done" });
    expect(await invoke()).toMatchObject({ kind: "ok" });
  });
});

type Run = (
  params: { readonly args: Record<string, unknown>; readonly context: Readonly<Record<string, unknown>> },
  run: ToolRun,
) => unknown;

/** One tool "t" behind a gate. */
describe("the sandbox of a call", () => {
  const request = { language: "python", code: "1" } as const;

  it("is the gate's, and what runs there ends with the call", async () => {
    const signals: AbortSignal[] = [];
    const sandbox: ISandboxService = {
      execute: async (asked, { signal } = {}) => {
        if (signal !== undefined) signals.push(signal);
        return { status: "success", stdout: asked.code, stderr: "", durationMs: 1, truncated: false };
      },
    };
    const { invoke, allowed } = world({
      sandbox,
      run: async (_, run) => {
        const { stdout } = await run.sandbox.execute(request);
        return run.idempotencyKey === "endless" ? never() : stdout;
      },
    });
    expect(await invoke()).toMatchObject({ kind: "ok", output: "1" });
    await invoke({}, { idempotencyKey: "endless" }, await allowed({}, 20));
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  });

  it("tells who waits that it is being prepared", async () => {
    const updates: ProgressUpdate[] = [];
    const sandbox: ISandboxService = {
      execute: async (_, { onPreparing } = {}) => {
        onPreparing?.();
        return { status: "success", stdout: "", stderr: "", durationMs: 1, truncated: false };
      },
    };
    const { invoke } = world({ sandbox, run: async (_, run) => (await run.sandbox.execute(request)).status });
    await invoke({}, { progress: (update) => void updates.push(update) });
    expect(updates).toEqual([{ message: expect.stringContaining("Preparing the sandbox") as string }]);
  });

  it("can be given up by its tool before that", async () => {
    const sandbox: ISandboxService = {
      execute: async (_, { signal } = {}) => {
        signal?.throwIfAborted();
        return { status: "success", stdout: "", stderr: "", durationMs: 1, truncated: false };
      },
    };
    const { invoke } = world({
      sandbox,
      run: async (_, run) => run.sandbox.execute(request, { signal: AbortSignal.abort(new Error("given up")) }),
    });
    expect(await invoke()).toMatchObject({ kind: "failed", error: { message: "given up" } });
  });

  it("says so when there is none", async () => {
    const { invoke } = world({ run: (_, run) => run.sandbox.execute(request) });
    expect(await invoke()).toMatchObject({ error: { code: "tool_failed", details: { code: "sandbox_unavailable" } } });
  });
});

function world(parts: {
  readonly run: Run;
  readonly sandbox?: ISandboxService;
  readonly clock?: Clock;
  readonly logger?: ReturnType<typeof createMemoryLogger>;
  readonly effects?: Effects;
  readonly more?: object;
  readonly dataRoots?: readonly string[];
}) {
  const registry = new ToolRegistry();
  registry.register({
    name: "t",
    description: "T",
    argsSchema: z.looseObject({}),
    effects: parts.effects ?? "once",
    run: parts.run,
    ...parts.more,
  });
  const gate = createToolGate({
    registry,
    clock: parts.clock ?? createSystemClock(),
    logger: parts.logger ?? silentLogger,
    ...(parts.sandbox === undefined ? {} : { sandbox: parts.sandbox }),
    ...(parts.dataRoots === undefined ? {} : { dataRoots: parts.dataRoots }),
  });
  const allowed = async (args: Record<string, unknown> = {}, timeoutMs?: number): Promise<AllowedCall> => {
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    const answer = await gate.check({ toolId: "t", args, context: {}, caller: { kind: "cli", owner: "o" }, ...limit });
    if (answer.kind !== "allowed") throw new Error(`not allowed: ${JSON.stringify(answer)}`);
    return answer;
  };
  let known: AllowedCall | undefined;
  const invoke = async (
    args: Record<string, unknown> = {},
    options: Partial<InvokeOptions> = {},
    call?: AllowedCall,
  ): Promise<CallOutcome> => {
    const ready = call ?? (registry.has("t") || known === undefined ? await allowed(args) : known);
    known = ready;
    return gate.invoke(ready, { idempotencyKey: "key", context: {}, ...options });
  };
  return { gate, registry, allowed, invoke };
}

/** What looks like a promise to whoever awaits it. */
function thenable(then: PropertyDescriptor, name = "then"): object {
  return Object.defineProperty({}, name, then);
}

/** Rejects with anything, twice. */
function rejecting(reason: unknown): object {
  const reject = (_ok: unknown, no: (given: unknown) => void): void => {
    no(reason);
    no("again");
  };
  return thenable({ value: reject });
}

function never(): Promise<never> {
  return new Promise(() => {});
}

/** Lets all that is due happen. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
