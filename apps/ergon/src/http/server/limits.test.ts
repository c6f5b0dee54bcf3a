import type { Clock } from "@ergon/core";
import type { Principal } from "@ergon/node";
import { describe, expect, it } from "vitest";
import { createLimiter, MAX_REMEMBERED_STRANGERS, type RequestLimits } from "./limits.ts";

const limits: RequestLimits = {
  perSecond: 10,
  burst: 5,
  adminFactor: 2,
  atOnce: 3,
  streams: 2,
  strangersPerSecond: 1,
  strangersBurst: 2,
};
const ann: Principal = {
  name: "ann",
  scope: "agent",
  admin: false,
  local: false,
  revoked: new AbortController().signal,
};
const bob: Principal = { ...ann, name: "bob" };

describe("the limits of a principal", () => {
  it("let a burst through, then so many a second, each principal for itself", () => {
    const { limiter, pass } = open();
    for (let index = 0; index < limits.burst; index += 1) limiter.enter(ann)();
    expect(() => limiter.enter(ann)).toThrow(
      expect.objectContaining({ code: "rate_limited", retryable: true }) as Error,
    );
    limiter.enter(bob)();
    pass(99);
    expect(() => limiter.enter(ann)).toThrow("Too many requests");
    pass(1);
    limiter.enter(ann)();
    expect(() => limiter.enter(ann)).toThrow("Too many requests");
    pass(60_000);
    for (let index = 0; index < limits.burst; index += 1) limiter.enter(ann)();
    expect(() => limiter.enter(ann)).toThrow("Too many requests");
  });

  it("are wider for the first token", () => {
    const { limiter } = open();
    const admin = { ...ann, name: "admin", admin: true };
    for (let index = 0; index < limits.burst * limits.adminFactor; index += 1) limiter.enter(admin)();
    expect(() => limiter.enter(admin)).toThrow("at most 20 a second");
  });

  it("let so many requests be under way at once", () => {
    const { limiter } = open();
    const leave = [limiter.enter(ann), limiter.enter(ann), limiter.enter(ann)];
    expect(() => limiter.enter(ann)).toThrow(expect.objectContaining({ code: "too_many_requests" }) as Error);
    leave[0]?.();
    limiter.enter(ann);
  });

  it("let so many streams be open, beside the requests", () => {
    const { limiter } = open();
    const leave = limiter.enterStream(ann);
    limiter.enterStream(ann);
    expect(() => limiter.enterStream(ann)).toThrow(expect.objectContaining({ code: "too_many_requests" }) as Error);
    leave();
    limiter.enterStream(ann);
    limiter.enter(ann);
  });

  it("do not count processes on the same folder", () => {
    const { limiter } = open();
    const enterOften = () => {
      for (let index = 0; index < 100; index += 1) limiter.enter({ ...ann, local: true });
    };
    expect(enterOften).not.toThrow();
  });

  it("forget the stranger who was silent longest when there are too many", () => {
    const { limiter } = open();
    limiter.failedAuth("first");
    limiter.failedAuth("first");
    expect(() => limiter.failedAuth("first")).toThrow(expect.objectContaining({ code: "rate_limited" }) as Error);
    for (let index = 1; index < MAX_REMEMBERED_STRANGERS; index += 1) limiter.failedAuth(`s${index}`);
    expect(() => limiter.failedAuth("first")).toThrow("Too many requests");
    for (let index = 0; index < MAX_REMEMBERED_STRANGERS; index += 1) limiter.failedAuth(`t${index}`);
    limiter.failedAuth("first");
  });
});

function open() {
  let nowMs = 0;
  const clock: Clock = {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: async () => undefined,
    after: () => () => undefined,
  };
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { limiter: createLimiter(clock, limits), pass };
}
