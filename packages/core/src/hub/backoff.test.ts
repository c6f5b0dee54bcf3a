import { describe, expect, it } from "vitest";
import { backoffMs, FIRST_DELAY_MS, JITTER, MAX_DELAY_MS } from "./backoff.ts";

describe("backoffMs", () => {
  it("doubles from one second up to its cap and stays there, however often a server failed", () => {
    expect([1, 2, 3, 4].map((failures) => backoffMs(failures, 0))).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(backoffMs(9, 0)).toBe(256_000);
    expect(backoffMs(10, 0)).toBe(MAX_DELAY_MS);
    expect(backoffMs(1e9, 0)).toBe(MAX_DELAY_MS);
  });

  it("waits less by chance, at most by its jitter", () => {
    expect(backoffMs(1, 1)).toBe(FIRST_DELAY_MS * (1 - JITTER));
    expect(backoffMs(50, 1)).toBe(MAX_DELAY_MS * (1 - JITTER));
  });
});
