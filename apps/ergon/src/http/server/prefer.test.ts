import { describe, expect, it } from "vitest";
import { MAX_WAIT_MS, preferredWaitMs } from "./prefer.ts";

describe("Prefer: wait", () => {
  it.each([
    ["wait=10", 10_000],
    ["respond-async, wait=1", 1_000],
    ["wait=0", 0],
    ["WAIT = 0.25", 250],
    ['wait="5"; foo', 5_000],
    [["return=minimal", "wait=2"], 2_000],
    ["wait=120", MAX_WAIT_MS],
    ["wait=121", MAX_WAIT_MS],
    ["wait=999999999", MAX_WAIT_MS],
  ] as const)("%j is %d ms", (header, expected) => {
    expect(preferredWaitMs(header)).toBe(expected);
  });

  it.each([undefined, "", "wait", "wait=", "wait=-1", "wait=1x", "await=3", "wait=1e9", "wait=9999999999"])(
    "%j is no wait",
    (header) => expect(preferredWaitMs(header)).toBeUndefined(),
  );
});
