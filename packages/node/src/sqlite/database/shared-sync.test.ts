import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSharedSync, MAX_TURNS_WAITED } from "./shared-sync.ts";

describe("syncs that are shared", () => {
  it("are not made when nothing was written", async () => {
    const disk = slowDisk();
    await disk.shared.sync();
    expect(disk.begun()).toBe(0);
  });

  it("cover what was written before they began, and nothing later", async () => {
    const { shared, begun, end } = slowDisk();
    shared.grew();
    const first = told(shared.sync());
    const same = told(shared.sync());
    await turn();
    expect(begun()).toBe(1);
    shared.grew();
    const later = [told(shared.sync()), told(shared.sync())];
    await turn();
    expect(begun()).toBe(1);
    end();
    await Promise.all([first.promise, same.promise]);
    await turn();
    expect(later.map(({ isDone }) => isDone())).toEqual([false, false]);
    expect(begun()).toBe(2);
    end();
    await Promise.all(later.map(({ promise }) => promise));
    await shared.sync();
    expect(begun()).toBe(2);
  });

  it("wait while each turn writes more, and take all of it", async () => {
    const turns = new Turns();
    const { shared, begun, end } = slowDisk(turns.next);
    shared.grew();
    const first = told(shared.sync());
    shared.grew();
    await turns.end();
    shared.grew();
    const second = told(shared.sync());
    await turns.end();
    expect(begun()).toBe(0);
    await turns.end();
    expect(begun()).toBe(1);
    end();
    await Promise.all([first.promise, second.promise]);
    await shared.sync();
    expect(begun()).toBe(1);
  });

  it("wait no longer than the bound, however much is written", async () => {
    const turns = new Turns();
    const { shared, begun } = slowDisk(turns.next);
    shared.grew();
    void shared.sync();
    for (let n = 1; n <= MAX_TURNS_WAITED; n += 1) {
      expect(begun()).toBe(0);
      shared.grew();
      await turns.end();
    }
    expect(begun()).toBe(1);
  });

  it("that fail say so to those they were for, and the next is a new attempt", async () => {
    const { shared, begun, end } = slowDisk();
    shared.grew();
    const first = shared.sync();
    await turn();
    shared.grew();
    const second = shared.sync();
    end(new Error("the disk is gone"));
    await expect(first).rejects.toThrow("the disk is gone");
    await turn();
    end(new Error("still gone"));
    await expect(second).rejects.toThrow("still gone");
    const third = shared.sync();
    await turn();
    end();
    await third;
    expect(begun()).toBe(3);
  });
});

/** A disk that takes its time: each sync ends when the test says so. */
function slowDisk(next: () => Promise<unknown> = () => Promise.resolve()) {
  let begun = 0;
  let under = Promise.withResolvers<void>();
  const shared = createSharedSync(() => {
    begun += 1;
    under = Promise.withResolvers<void>();
    return under.promise;
  }, next);
  const end = (error?: Error): void => {
    if (error === undefined) under.resolve();
    else under.reject(error);
  };
  return { shared, begun: () => begun, end };
}

/** Turns that end when the test says so. */
class Turns {
  #end = Promise.withResolvers<void>();
  readonly next = (): Promise<void> => this.#end.promise;
  readonly end = async (): Promise<void> => {
    const { resolve } = this.#end;
    this.#end = Promise.withResolvers();
    resolve();
    await turn();
  };
}

function told(promise: Promise<void>) {
  let done = false;
  return {
    promise: promise.then(() => {
      done = true;
    }),
    isDone: () => done,
  };
}
