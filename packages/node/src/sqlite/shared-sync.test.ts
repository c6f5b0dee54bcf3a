import { describe, expect, it } from "vitest";
import { createSharedSync } from "./shared-sync.ts";

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
    expect(begun()).toBe(1);
    shared.grew();
    const later = [told(shared.sync()), told(shared.sync())];
    expect(begun()).toBe(1);
    end();
    await Promise.all([first.promise, same.promise]);
    expect(later.map(({ isDone }) => isDone())).toEqual([false, false]);
    expect(begun()).toBe(2);
    end();
    await Promise.all(later.map(({ promise }) => promise));
    await shared.sync();
    expect(begun()).toBe(2);
  });

  it("that fail say so to those they were for, and the next is a new attempt", async () => {
    const { shared, begun, end } = slowDisk();
    shared.grew();
    const first = shared.sync();
    shared.grew();
    const second = shared.sync();
    end(new Error("the disk is gone"));
    await expect(first).rejects.toThrow("the disk is gone");
    end(new Error("still gone"));
    await expect(second).rejects.toThrow("still gone");
    const third = shared.sync();
    end();
    await third;
    expect(begun()).toBe(3);
  });
});

/** A disk that takes its time: each sync ends when the test says so. */
function slowDisk() {
  let begun = 0;
  let under = Promise.withResolvers<void>();
  const shared = createSharedSync(() => {
    begun += 1;
    under = Promise.withResolvers<void>();
    return under.promise;
  });
  const end = (error?: Error): void => {
    if (error === undefined) under.resolve();
    else under.reject(error);
  };
  return { shared, begun: () => begun, end };
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
