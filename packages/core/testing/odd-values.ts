import * as fc from "fast-check";
import { z } from "zod";

/** Makes a value when called: some of them cannot even be printed, and a failing test prints what it was given. */
export type Made<T = unknown> = () => T;

/** Values that are no JSON in every way that we could think of, with JSON among them. */
export function oddValue(): fc.Arbitrary<Made> {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withNullPrototype: true,
    withSparseArray: true,
  });
  const plain = fc.oneof(fc.jsonValue(), anything).map((value) => named(() => value, fc.stringify(value)));
  return fc.oneof(
    { arbitrary: plain, weight: 40 },
    { arbitrary: fc.constantFrom(...TRAPS), weight: 10 },
    { arbitrary: fc.constant(BOMB), weight: 1 },
  );
}

/** An object of made values, made together. */
export function oddObject(fields: Readonly<Record<string, fc.Arbitrary<Made>>>): fc.Arbitrary<Made> {
  return fc.record(fields, { requiredKeys: [] }).map(madeTogether);
}

export function oddDictionary(key: fc.Arbitrary<string>): fc.Arbitrary<Made> {
  return fc.dictionary(key, oddValue()).map(madeTogether);
}

export function made<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<Made<T>> {
  return arbitrary.map((value) => named(() => value, fc.stringify(value)));
}

function madeTogether(parts: Readonly<Record<string, Made | undefined>>): Made {
  return named(
    () => Object.fromEntries(Object.entries(parts).map(([key, make]) => [key, make?.()])),
    fc.stringify(parts),
  );
}

function named<T>(make: Made<T>, name: string): Made<T> {
  return Object.assign(() => make(), { [fc.toStringMethod]: () => name });
}

const TRAPS: readonly Made[] = [
  named(() => Symbol("odd"), "a symbol"),
  named(() => () => "called", "a function"),
  named(() => Promise.resolve(1), "a promise"),
  named(() => new Error("an error"), "an error"),
  named(() => z.object({}), "a schema"),
  named(cyclic, "an object that contains itself"),
  named(deep, "a very deep object"),
  named(trap, "an object with a getter that throws"),
  named(hostile, "an object that throws whatever is asked of it"),
];

/** Costs real time to refuse, so it comes rarely. */
const BOMB: Made = named(unfolding, "few arrays that unfold to a trillion values");

function cyclic(): object {
  const value: Record<string, unknown> = {};
  value["self"] = [value, value];
  return value;
}

/** Deep enough to overflow a stack that follows it. */
function deep(): unknown {
  let value: unknown = 0;
  for (let i = 0; i < 20_000; i += 1) value = { next: value };
  return value;
}

function unfolding(): unknown {
  let value: unknown = 0;
  for (let i = 0; i < 40; i += 1) value = [value, value];
  return value;
}

function trap(): object {
  return Object.defineProperty({}, "trap", { enumerable: true, get: refuse });
}

function hostile(): object {
  return new Proxy(
    {},
    { get: refuse, has: refuse, ownKeys: refuse, getPrototypeOf: refuse, getOwnPropertyDescriptor: refuse },
  );
}

export const TRAP_MESSAGE = "sprung";

function refuse(): never {
  throw new Error(TRAP_MESSAGE);
}
