import { describe, expect, it } from "vitest";
import { createCallSlots } from "./call-slots.ts";

describe("call slots", () => {
  it("lets calls through up to the limit, then one for each that ends, in order", async () => {
    const slots = createCallSlots("files", { concurrency: 2, queue: 2 });
    const first = await slots.take();
    await slots.take();
    const order: string[] = [];
    const third = Promise.resolve(slots.take()).then((free) => (order.push("third"), free));
    const fourth = Promise.resolve(slots.take()).then((free) => (order.push("fourth"), free));
    expect(slots.busy()).toEqual({ running: 2, waiting: 2 });
    first();
    first();
    (await third)();
    await fourth;
    expect(order).toEqual(["third", "fourth"]);
    expect(slots.busy()).toEqual({ running: 2, waiting: 0 });
  });

  it("refuses at the queue's bound and says how busy it is", async () => {
    const slots = createCallSlots("files", { concurrency: 1, queue: 1 });
    const free = await slots.take();
    const waits = slots.take();
    expect(() => slots.take()).toThrow(expect.objectContaining({ code: "server_busy", retryable: true }));
    free();
    (await waits)();
    expect(slots.busy()).toEqual({ running: 0, waiting: 0 });
  });

  it("gives the place of a call that was given up while waiting to the next", async () => {
    const slots = createCallSlots("files", { concurrency: 1, queue: 2 });
    const free = await slots.take();
    const gaveUp = new AbortController();
    const waits = Promise.resolve(slots.take(gaveUp.signal));
    gaveUp.abort(new Error("enough"));
    await expect(waits).rejects.toThrow("enough");
    const next = slots.take();
    free();
    (await next)();
    expect(slots.busy()).toEqual({ running: 0, waiting: 0 });
  });
});
