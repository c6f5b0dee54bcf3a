import { describe, expect, it } from "vitest";
import type { Logger } from "../../src/ports/logger.ts";

export type OpenedLogger = {
  readonly logger: Logger;
  /** What was logged so far, one text per line, fields and message included. */
  readonly lines: () => readonly string[];
};

/** What every Logger must do, opened at its most talkative. */
export function loggerContract(name: string, open: () => OpenedLogger): void {
  describe(`the logger contract: ${name}`, () => {
    it("keeps message and fields at every level, in order", () => {
      const { logger, lines } = open();
      for (const level of ["debug", "info", "warn", "error"] as const)
        logger[level]({ at: `${level}-field` }, `${level}-message`);
      expect(lines()).toHaveLength(4);
      for (const [n, level] of ["debug", "info", "warn", "error"].entries()) {
        expect(lines()[n]).toContain(`${level}-field`);
        expect(lines()[n]).toContain(`${level}-message`);
      }
    });

    it("gives its children its own fields, and they keep theirs to themselves", () => {
      const { logger, lines } = open();
      const child = logger.child({ sessionId: "outer" });
      child.child({ stepId: "inner" }).info({}, "one");
      child.info({}, "two");
      logger.info({}, "three");
      expect(lines()[0]).toContain("outer");
      expect(lines()[0]).toContain("inner");
      expect(lines()[1]).not.toContain("inner");
      expect(lines()[2]).not.toContain("outer");
    });

    it.each(["authorization", "password", "apiKey", "token", "clientSecret", "cookie"])(
      "hides what stands under %s",
      (key) => {
        const { logger, lines } = open();
        logger.info({ [key]: "canary", inner: [{ [key]: "canary" }] }, "sent");
        logger.child({ [key]: "canary" }).info({}, "sent");
        expect(lines()).toHaveLength(2);
        expect(lines().join("")).not.toContain("canary");
      },
    );

    it("never throws, whatever it is given", () => {
      const { logger, lines } = open();
      const circle: Record<string, unknown> = { big: 10n, symbol: Symbol("s"), run: () => 1 };
      circle["self"] = circle;
      const hostile = {
        get boom(): never {
          throw new Error("no");
        },
      };
      expect(() => logger.info(circle, "circle")).not.toThrow();
      expect(() => logger.child(hostile).error(hostile, "hostile")).not.toThrow();
      expect(() => logger.warn({ error: new Error("e", { cause: circle }) }, "\ud800")).not.toThrow();
      expect(lines()).toHaveLength(3);
    });
  });
}
