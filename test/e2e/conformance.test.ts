import { describe, expect, it } from "vitest";
import { REVISIONS, runSuite } from "../conformance/suite.ts";

const REQUIRED = { server: { "2025-11-25": 30, "2026-07-28": 37 }, client: { "2025-11-25": 18, "2026-07-28": 32 } };

describe.each(["server", "client"] as const)("the official MCP conformance suite, of a %s", (side) => {
  it.each(REVISIONS)("passes every scenario that revision %s requires", { timeout: 300_000 }, async (revision) => {
    const { required, passed, failed, report } = await runSuite(revision, side);
    expect(failed, report).toEqual([]);
    expect({ required, passed }).toEqual({ required: REQUIRED[side][revision], passed: REQUIRED[side][revision] });
  });
});
