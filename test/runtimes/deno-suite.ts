// Suites and hooks over Deno.test. Each test is registered flat, under its full name; its suites' hooks run around it.
import { expect } from "./deno-expect.ts";

export type Hook = () => unknown;
export type Options = { readonly timeout?: number };
export type Body = (context: TestContext) => unknown;
type HookName = "beforeAll" | "afterAll" | "beforeEach" | "afterEach";
type TestContext = {
  readonly expect: typeof expect;
  readonly onTestFinished: (hook: Hook) => void;
  /** Notes are for Vitest's report; they never decide a test. */
  readonly annotate: (note: string) => Promise<void>;
};
type Suite = {
  readonly name: string;
  readonly timeoutMs: number;
  readonly parent: Suite | undefined;
  readonly hooks: Record<HookName, Hook[]>;
  unfinished: number;
  prepared: Promise<void> | undefined;
};
type TestDefinition = {
  readonly name: string;
  readonly body: Body;
  readonly timeoutMs?: number;
  readonly skip?: boolean;
};

declare const Deno: { test(definition: object): void };

const DEFAULT_TIMEOUT_MS = 5_000;
let current = createSuite({ name: "", parent: undefined, timeoutMs: DEFAULT_TIMEOUT_MS });

export function describeSuite(name: string, body: () => unknown, timeoutMs = current.timeoutMs): void {
  const outer = current;
  current = createSuite({ name, parent: outer, timeoutMs });
  try {
    if (body() instanceof Promise) throw new TypeError(`describe("${name}") must not be async`);
  } finally {
    current = outer;
  }
}

export function registerTest({ name, body, timeoutMs = current.timeoutMs, skip = false }: TestDefinition): void {
  const suites = lineage(current);
  if (!skip) for (const suite of suites) suite.unfinished += 1;
  Deno.test({
    name: [...suites.map((suite) => suite.name), name].filter((part) => part !== "").join(" > "),
    ignore: skip,
    // A suite may open in beforeAll what it closes in afterAll.
    sanitizeOps: false,
    sanitizeResources: false,
    fn: () => runTest(suites, body, timeoutMs),
  });
}

export function addHook(name: HookName, hook: Hook): void {
  current.hooks[name].push(hook);
}

async function runTest(suites: readonly Suite[], body: Body, timeoutMs: number): Promise<void> {
  const cleanups: Hook[] = suites.flatMap((suite) => suite.hooks.afterEach).reverse();
  try {
    for (const suite of suites) await (suite.prepared ??= prepare(suite));
    for (const hook of suites.flatMap((suite) => suite.hooks.beforeEach)) {
      const cleanup = await hook();
      if (isHook(cleanup)) cleanups.unshift(cleanup);
    }
    const context: TestContext = {
      expect,
      onTestFinished: (hook) => void cleanups.unshift(hook),
      annotate: () => Promise.resolve(),
    };
    await withTimeout(() => body(context), timeoutMs);
  } finally {
    for (const cleanup of cleanups) await cleanup();
    for (const suite of suites.toReversed()) await leave(suite);
  }
}

/** Kept as a promise: when it fails, every test of the suite fails with it. */
async function prepare(suite: Suite): Promise<void> {
  for (const hook of suite.hooks.beforeAll) {
    const cleanup = await hook();
    if (isHook(cleanup)) suite.hooks.afterAll.push(cleanup);
  }
}

async function leave(suite: Suite): Promise<void> {
  suite.unfinished -= 1;
  if (suite.unfinished > 0) return;
  for (const hook of suite.hooks.afterAll.toReversed()) await hook();
}

async function withTimeout(body: () => unknown, timeoutMs: number): Promise<void> {
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Test timed out in ${timeoutMs}ms.`)), timeoutMs);
  try {
    await Promise.race([body(), expired]);
  } finally {
    clearTimeout(timer);
  }
}

function isHook(value: unknown): value is Hook {
  return typeof value === "function";
}

function lineage(suite: Suite): Suite[] {
  return suite.parent === undefined ? [suite] : [...lineage(suite.parent), suite];
}

function createSuite(given: Pick<Suite, "name" | "parent" | "timeoutMs">): Suite {
  const hooks = { beforeAll: [], afterAll: [], beforeEach: [], afterEach: [] };
  return { ...given, hooks, unfinished: 0, prepared: undefined };
}
