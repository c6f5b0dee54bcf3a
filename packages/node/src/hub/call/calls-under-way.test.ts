import { describe, expect, it } from "vitest";
import { createCallsUnderWay } from "./calls-under-way.ts";

describe("the calls under way", () => {
  it("are those that have begun and not ended, however they end", async () => {
    const calls = createCallsUnderWay();
    const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
    await calls.idle();
    const one = calls.during(() => first.promise);
    const isMarked = calls.mark();
    const two = calls.during(() => second.promise);
    const idle = calls.idle().then(() => "idle");
    first.resolve("one");
    expect([await one, isMarked()]).toEqual(["one", false]);
    expect(await Promise.race([idle, Promise.resolve("busy")])).toBe("busy");
    second.reject(new Error("two"));
    await expect(two).rejects.toThrow("two");
    expect(await idle).toBe("idle");
    expect(calls.mark()()).toBe(false);
  });

  it("that were marked are no others", async () => {
    const calls = createCallsUnderWay();
    const never = new Promise<void>(() => undefined);
    const isMarked = calls.mark();
    void calls.during(() => never);
    expect([isMarked(), calls.mark()()]).toEqual([false, true]);
  });
});
