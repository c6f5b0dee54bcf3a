import type { JsonObject } from "@ergon/core";

/** A unit by the words that say it, in milliseconds. */
const UNITS: readonly (readonly [words: string, ms: number])[] = [
  ["ms|msec|msecs|millis|millisecond|milliseconds", 1],
  ["s|sec|secs|second|seconds", 1_000],
  ["m|min|mins|minute|minutes", 60_000],
  ["h|hr|hrs|hour|hours", 3_600_000],
  ["d|day|days", 86_400_000],
];

const SAID = UNITS.map(([words, ms]) => ({ pattern: new RegExp(`^(?:${words})\\b`, "iu"), ms }));
const IN_NAME = UNITS.map(([words, ms]) => {
  const long = words.split("|").filter((word) => word.length > 1);
  return { pattern: new RegExp(`(?:^|_|-)(?:${long.join("|")})$`, "iu"), ms };
});
const IN_WORDS = UNITS.map(([words, ms]) => {
  const long = words.split("|").filter((word) => word.length > 3);
  return { pattern: new RegExp(`\\b(?:${long.join("|")})\\b`, "iu"), ms };
});

/** The unit of time that a number stands with in a message, in milliseconds. */
export function saidUnit(after: string): number | undefined {
  return SAID.find(({ pattern }) => pattern.test(after))?.ms;
}

/** The unit of time that an argument is in, by its name (`timeoutMs`) or its description. */
export function unitOf(name: string, { description }: JsonObject): number | undefined {
  const apart = name.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1_$2");
  const named = IN_NAME.find(({ pattern }) => pattern.test(apart))?.ms;
  if (named !== undefined || typeof description !== "string") return named;
  const told = IN_WORDS.filter(({ pattern }) => pattern.test(description));
  return told.length === 1 ? told[0]?.ms : undefined;
}
