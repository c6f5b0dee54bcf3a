import { describe, expect, it } from "vitest";
import { runUnderDeno } from "../runtimes/deno.ts";

const fixture = (name: string): string => `test/runtimes/fixtures/${name}.fixture.ts`;

describe("core's tests under Deno", () => {
  it("run with hooks, rows and skips as under Vitest", () => {
    const { passed, failed, skipped } = runUnderDeno([fixture("hooks")], "ignore");
    expect({ passed, failed }).toEqual({ passed: 4, failed: 0 });
    expect(skipped).toEqual([expect.stringContaining("is skipped")]);
  });

  it("fail when an expectation, a deadline or a beforeAll hook fails", () => {
    expect(runUnderDeno([fixture("failing")], "ignore")).toEqual({ passed: 0, failed: 6, skipped: [] });
  });

  it("fail when a file does not even load", () => {
    expect(runUnderDeno([fixture("broken")], "ignore")).toEqual({ passed: 0, failed: 1, skipped: [] });
  });
});
