import { describe, expect, it } from "vitest";
import { loggerContract } from "../../testing/contracts/logger.contract.ts";
import { createMemoryLogger, MAX_KEPT_LOG_ENTRIES, silentLogger } from "./logger.ts";

loggerContract("memory", () => {
  const logger = createMemoryLogger();
  return { logger, lines: () => logger.entries().map((entry) => JSON.stringify(entry)) };
});

describe("the memory logger", () => {
  it("keeps the newest entries, up to its bound", () => {
    const logger = createMemoryLogger();
    for (let n = 0; n <= MAX_KEPT_LOG_ENTRIES; n += 1) logger.info({ n }, "x");
    expect(logger.entries()).toHaveLength(MAX_KEPT_LOG_ENTRIES);
    expect(logger.entries()[0]?.fields).toEqual({ n: 1 });
  });
});

describe("the silent logger", () => {
  it("takes everything and says nothing", () => {
    expect(() => silentLogger.child({ a: 1 }).error({ b: 2 }, "x")).not.toThrow();
  });
});
