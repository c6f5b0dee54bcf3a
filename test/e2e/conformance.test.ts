import { describe, expect, it } from "vitest";
import { REVISIONS, runSuite } from "../conformance/suite.ts";

const REQUIRED = { "2025-11-25": 30, "2026-07-28": 37 };

describe("the official MCP conformance suite", () => {
  it.each(REVISIONS)(
    "passes every server scenario that revision %s requires",
    { timeout: 180_000 },
    async (revision) => {
      const { required, passed, failed, report } = await runSuite(revision);
      expect(failed, report).toEqual([]);
      expect({ required, passed }).toEqual({ required: REQUIRED[revision], passed: REQUIRED[revision] });
    },
  );
});
