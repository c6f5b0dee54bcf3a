import { describe, expect, it } from "vitest";
import { closeIfOpened, lazy, whenUsed } from "./lazy.ts";

type Counter = { readonly add: (by: number) => Promise<number>; readonly close: () => Promise<void> };

function counter(log: string[]): () => Promise<Counter> {
  return async () => {
    log.push("open");
    let sum = 0;
    return { add: async (by) => (sum += by), close: async () => void log.push("close") };
  };
}

describe("a lazy service", () => {
  it("is opened by its first use, once for all who use it at the same time", async () => {
    const log: string[] = [];
    const service = lazy(counter(log));
    expect(service.opened()).toBeUndefined();
    expect(log).toEqual([]);
    const [one, other] = await Promise.all([service(), service()]);
    expect(one).toBe(other);
    expect(log).toEqual(["open"]);
    expect(await service.opened()).toBe(one);
  });

  it("may be opened without waiting, and keeps an absent value too", () => {
    let opened = 0;
    const service = lazy((): undefined => void (opened += 1));
    service();
    service();
    expect(opened).toBe(1);
  });

  it("is tried again after it could not be opened", async () => {
    let attempts = 0;
    const service = lazy(async () => {
      attempts += 1;
      if (attempts === 1) throw new Error("not yet");
      return attempts;
    });
    await expect(service()).rejects.toThrow("not yet");
    expect(service.opened()).toBeUndefined();
    expect(await service()).toBe(2);
  });

  it("is opened by the first call of one of its methods", async () => {
    const log: string[] = [];
    const { add } = whenUsed(lazy(counter(log)));
    expect(log).toEqual([]);
    expect([await add(1), await add(2)]).toEqual([1, 3]);
    expect(log).toEqual(["open"]);
  });

  it("is closed only if it was opened", async () => {
    const log: string[] = [];
    const close = ({ close: end }: Counter): Promise<void> => end();
    const service = lazy(counter(log));
    await closeIfOpened(service, close);
    expect(log).toEqual([]);
    await service();
    await closeIfOpened(service, close);
    expect(log).toEqual(["open", "close"]);
    const broken = lazy((): Promise<Counter> => Promise.reject(new Error("broken")));
    await expect(broken()).rejects.toThrow("broken");
    await closeIfOpened(broken, close);
  });
});
