// Stands in for "vitest" when core's tests run under Deno, so that the test files stay as they are. A word that is
// missing here fails as "not a function", never as a test that silently does nothing.
import { fn, spyOn } from "@vitest/spy";
import { expect } from "./deno-expect.ts";
import { addHook, type Body, describeSuite, type Hook, type Options, registerTest } from "./deno-suite.ts";
import { formatTitle } from "./deno-title.ts";

export { expect, test as it };
export const vi = { fn, spyOn };
export const describe = Object.assign(
  (name: string, ...rest: (Options | Hook | number)[]) => {
    const { body, timeoutMs } = readArguments(rest);
    describeSuite(name, body, timeoutMs);
  },
  { each: each(describeSuite) },
);
export const test = Object.assign(
  (name: string, ...rest: (Options | Body | number)[]) => registerTest({ name, ...readArguments(rest) }),
  {
    each: each((name, body, timeoutMs) =>
      registerTest(timeoutMs === undefined ? { name, body } : { name, body, timeoutMs }),
    ),
    skipIf: (skip: unknown) => conditional(Boolean(skip)),
    runIf: (run: unknown) => conditional(!run),
  },
);
export const beforeAll = (hook: Hook): void => addHook("beforeAll", hook);
export const afterAll = (hook: Hook): void => addHook("afterAll", hook);
export const beforeEach = (hook: Hook): void => addHook("beforeEach", hook);
export const afterEach = (hook: Hook): void => addHook("afterEach", hook);

function conditional(skip: boolean) {
  return (name: string, ...rest: (Options | Body | number)[]) => registerTest({ name, skip, ...readArguments(rest) });
}

/** Vitest takes the options before the body, or a bare timeout after it. */
function readArguments<B extends Body | Hook | Row>(
  rest: readonly (Options | B | number)[],
): { body: B; timeoutMs?: number } {
  const body = rest.find((part) => typeof part === "function");
  if (body === undefined) throw new TypeError("a test or a suite needs a function");
  const timeoutMs = rest.map((part) => (typeof part === "object" ? part.timeout : part)).find(isNumber);
  return timeoutMs === undefined ? { body } : { body, timeoutMs };
}

function each(register: (name: string, body: () => unknown, timeoutMs?: number) => void) {
  return (rows: readonly unknown[]) =>
    (title: string, ...rest: (Options | Row | number)[]): void => {
      const { body, timeoutMs } = readArguments<Row>(rest);
      // As Vitest does: rows are spread where all of them are lists.
      const areLists = rows.every((row) => Array.isArray(row));
      for (const [index, row] of rows.entries()) {
        const values: unknown[] = areLists ? (row as unknown[]) : [row];
        register(formatTitle(title, values, index), () => body(...values), timeoutMs);
      }
    };
}

type Row = (...row: unknown[]) => unknown;

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}
