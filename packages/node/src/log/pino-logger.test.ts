import { loggerContract } from "@ergon/core/testing/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPinoLogger, type LogLevel } from "./pino-logger.ts";
import { MAX_LOGGED_TEXT, MAX_REDACT_CHARS, MAX_REDACT_DEPTH, MAX_REDACT_ENTRIES, redact } from "./redact.ts";

loggerContract("pino", () => {
  const { logger, lines } = open("trace");
  return { logger, lines: () => lines };
});

describe("the logger", () => {
  it("writes a JSON line with fields, message and those of its parents", () => {
    const { logger, lines } = open("info");
    logger.child({ sessionId: "s1" }).child({ stepId: "a" }).info({ n: 1 }, "hello");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 30, sessionId: "s1", stepId: "a", n: 1, msg: "hello" },
    ]);
  });

  it.each([
    ["silent", []],
    ["error", ["error"]],
    ["warn", ["warn", "error"]],
    ["debug", ["debug", "info", "warn", "error"]],
  ] as const)("lets through at %s: %j", (level, expected) => {
    const { logger, lines } = open(level);
    for (const at of ["debug", "info", "warn", "error"] as const) logger[at]({}, at);
    expect(lines.map((line) => /"msg":"(\w+)"/.exec(line)?.[1])).toEqual(expected);
  });

  it("never throws, whatever is logged", () => {
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const hostile = {
      get boom() {
        throw new Error("no");
      },
      toJSON() {
        throw new Error("no");
      },
    };
    const { logger, lines } = open("info");
    logger.info(circle, "circle");
    logger.info({ hostile, big: 10n, when: new Date(Number.NaN) }, "hostile");
    logger.info({ nothing: undefined }, "\ud800");
    expect(lines).toHaveLength(3);
    const broken = createPinoLogger({
      level: "info",
      write: () => {
        throw new Error("disk full");
      },
    });
    expect(() => broken.info({}, "x")).not.toThrow();
  });
});

describe("redaction", () => {
  it.each([
    "authorization",
    "Authorization",
    "ERGON_TOKEN",
    "accessToken",
    "password",
    "clientSecret",
    "apiKey",
    "OPENAI_API_KEY",
    "api-key",
    "cookie",
    "Set-Cookie",
    "private_key",
    "SUPABASE_SERVICE_ROLE_KEY",
  ])("hides what stands under %s, at any depth up to the bound", (key) => {
    for (let depth = 0; depth <= MAX_REDACT_DEPTH + 1; depth += 1) {
      let value: unknown = { [key]: "canary" };
      for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { inner: value };
      expect(JSON.stringify(redact(value))).not.toContain("canary");
    }
  });

  it("keeps numbers under such names, and ordinary fields", () => {
    expect(redact({ maxTokens: 5, idempotencyKey: "k", tokens: null })).toEqual({
      maxTokens: 5,
      idempotencyKey: "k",
      tokens: null,
    });
  });

  it("hides credentials that stand as names of fields", () => {
    const [one, two] = ["a", "b"].map((letter) => `ghp_${letter.repeat(36)}`) as [string, string];
    expect(redact({ [one]: 1, [two]: { [one]: 2 } })).toEqual({
      "[redacted] (field 1)": 1,
      "[redacted] (field 2)": { "[redacted] (field 1)": 2 },
    });
  });

  it("does not mind a field that is called as another one is shown", () => {
    expect(redact({ "[redacted] (field 2)": 1, [`ghp_${"a".repeat(36)}`]: 2 })).toEqual({ "[redacted] (field 2)": 2 });
  });

  it("hides credentials inside texts, messages included", () => {
    const { logger, lines } = open("info");
    logger.info({ header: "Bearer canary-canary", url: "https://me:canary@host/" }, "sent Bearer canary-canary");
    expect(lines.join("")).not.toContain("canary");
  });

  it("cuts at its bounds", () => {
    expect(redact("x".repeat(MAX_LOGGED_TEXT))).toBe("x".repeat(MAX_LOGGED_TEXT));
    expect(redact("x".repeat(MAX_LOGGED_TEXT + 1))).toContain("characters)");
    expect(redact(Array.from({ length: MAX_REDACT_ENTRIES }, () => 1))).toHaveLength(MAX_REDACT_ENTRIES);
    const cut = redact(Array.from({ length: MAX_REDACT_ENTRIES + 5 }, () => 1));
    expect(cut).toHaveLength(MAX_REDACT_ENTRIES + 1);
    const text = "x".repeat(MAX_LOGGED_TEXT);
    const whole = Array.from({ length: MAX_REDACT_CHARS / MAX_LOGGED_TEXT }, () => text);
    expect(redact(whole)).toEqual(whole);
    expect(redact([...whole, "y"])).toEqual([...whole, "… (1 characters)"]);
  });

  it("gives plain data for anything", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withTypedArray: true, withNullPrototype: true }),
        (value) => {
          expect(() => JSON.stringify(redact(value))).not.toThrow();
        },
      ),
    );
  });
});

function open(level: LogLevel) {
  const lines: string[] = [];
  return { lines, logger: createPinoLogger({ level, write: (line) => void lines.push(line) }) };
}
