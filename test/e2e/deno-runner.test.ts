import { describe, expect, it } from "vitest";
import { runUnderDeno } from "../runtimes/deno.ts";

const fixture = (name: string): string => `test/runtimes/fixtures/${name}.fixture.ts`;

describe("core's tests under Deno", () => {
  it("run with hooks, rows and skips as under Vitest", () => {
    const { passed, failed, skipped } = runUnderDeno([fixture("hooks")], "hide");
    expect({ passed, failed }).toEqual({ passed: 4, failed: 0 });
    expect(skipped).toEqual([expect.stringContaining("is skipped")]);
  });

  it("fail when an expectation, a deadline or a beforeAll hook fails", () => {
    const { failures, ...counts } = runUnderDeno([fixture("failing")], "hide");
    expect(counts).toEqual({ passed: 0, failed: 6, skipped: [] });
    expect(failures).toEqual(Array.from({ length: 6 }, () => expect.stringContaining("(Deno)") as string));
  });

  it("fail when a file does not even load", () => {
    const counts = runUnderDeno([fixture("broken")], "hide");
    expect(counts).toEqual({ passed: 0, failed: 1, skipped: [], failures: [expect.stringContaining("did not load")] });
  });
});
