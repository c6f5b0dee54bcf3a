import { describe, expect, it } from "vitest";
import { ErgonError, isErgonError, toErgonError } from "./ergon-error.ts";

describe("ErgonError", () => {
  it("becomes a plain value without stack and cause", () => {
    const error = new ErgonError("broken", "It broke.", {
      retryable: true,
      details: { at: 1 },
      cause: new Error("why"),
    });
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      code: "broken",
      message: "It broke.",
      retryable: true,
      details: { at: 1 },
    });
  });

  it("is recognised when a tool's bundle brings its own copy of the class", () => {
    const foreign = Object.assign(new Error("x"), { name: "ErgonError", code: "broken" });
    expect(isErgonError(foreign)).toBe(true);
    expect(isErgonError(new Error("x"))).toBe(false);
  });
});

describe("toErgonError", () => {
  const known = new ErgonError("broken", "It broke.");

  it("keeps what is one, and gives the rest a code and a message", () => {
    expect(toErgonError(known, "other")).toBe(known);
    expect(toErgonError(new Error("x"), "other")).toMatchObject({ code: "other", message: "x" });
    expect(toErgonError("text", "other").message).toBe("text");
    expect(toErgonError({ a: 1 }, "other").message).toBe('{"a":1}');
    expect(toErgonError(undefined, "other").message).toBe("a value of type undefined was thrown");
  });

  it("neither throws nor hangs, whatever was thrown", () => {
    let bomb: unknown = 0;
    for (let i = 0; i < 40; i += 1) bomb = [bomb, bomb];
    expect(toErgonError(bomb, "other").message).toBe("a value of type object was thrown");
    const refuse = (): never => {
      throw new Error("hostile");
    };
    expect(toErgonError(new Proxy({}, { get: refuse, getPrototypeOf: refuse, ownKeys: refuse }), "other").code).toBe(
      "other",
    );
  });
});
