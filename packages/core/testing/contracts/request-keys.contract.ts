import { afterEach, describe, expect, it } from "vitest";
import { MAX_REQUEST_KEYS, type NewRequest, type RequestKeyStore } from "../../src/ports/request-keys.ts";

export type OpenedRequestKeys = {
  readonly keys: RequestKeyStore;
  /** Closes the store and opens what it left behind; absent when it leaves nothing. */
  readonly reopen?: () => Promise<RequestKeyStore>;
};

/** What every RequestKeyStore must do. `open` gives a fresh, empty one. */
export function requestKeysContract(name: string, open: () => Promise<OpenedRequestKeys>): void {
  const opened: RequestKeyStore[] = [];
  const fresh = async (): Promise<OpenedRequestKeys> => {
    const made = await open();
    opened.push(made.keys);
    return made;
  };

  describe(`the request keys contract: ${name}`, () => {
    afterEach(async () => {
      for (const keys of opened.splice(0)) await keys.close();
    });

    it("gives a request back that has the key already, with its answer once there is one", async () => {
      const { keys } = await fresh();
      expect(await keys.begin(request())).toMatchObject({ fingerprint: "f1", startId: "s1" });
      const again = request({ fingerprint: "f2", startId: "s2" });
      expect(await keys.begin(again)).toMatchObject({ fingerprint: "f1", startId: "s1" });
      expect((await keys.begin(again)).answer).toBeUndefined();
      await keys.finish(KEY, "the answer");
      expect(await keys.begin(again)).toMatchObject({ fingerprint: "f1", startId: "s1", answer: "the answer" });
    });

    it("begins one of several that come at once (K1)", async () => {
      const { keys } = await fresh();
      const ids = Array.from({ length: 10 }, (_, at) => `s${String(at)}`);
      const begun = await Promise.all(ids.map((startId) => keys.begin(request({ startId }))));
      expect(new Set(begun.map(({ startId }) => startId)).size).toBe(1);
    });

    it("keeps owners apart (K2)", async () => {
      const { keys } = await fresh();
      await keys.begin(request());
      expect(await keys.begin(request({ owner: "bob", startId: "s2" }))).toMatchObject({ startId: "s2" });
      await keys.forget({ owner: "bob", key: "k" });
      await keys.finish({ owner: "bob", key: "k" }, "nothing to keep");
      expect((await keys.begin(request({ startId: "s3" }))).startId).toBe("s1");
    });

    it("has a key free again when it is forgotten or old (K3)", async () => {
      const { keys } = await fresh();
      await keys.begin(request());
      await keys.forget(KEY);
      expect(await keys.begin(request({ startId: "s2" }))).toMatchObject({ startId: "s2" });
      await keys.finish(KEY, "old");
      const later = { at: at(25), startId: "s3" };
      expect(await keys.begin(request({ ...later, since: AT }))).toMatchObject({ startId: "s2", answer: "old" });
      const renewed = await keys.begin(request({ ...later, since: at(1) }));
      expect(renewed.startId).toBe("s3");
      expect(renewed.answer).toBeUndefined();
    });

    it("keeps the newest of each owner, up to its bound (K3)", { timeout: 60_000 }, async () => {
      const { keys } = await fresh();
      const named = (n: number) => request({ key: `k${String(n)}`, startId: `s${String(n)}` });
      await keys.begin(request({ owner: "bob" }));
      for (let n = 0; n <= MAX_REQUEST_KEYS; n += 1) await keys.begin(named(n));
      expect(await keys.begin({ ...named(1), startId: "other" })).toMatchObject({ startId: "s1" });
      expect(await keys.begin({ ...named(0), startId: "other" })).toMatchObject({ startId: "other" });
      expect(await keys.begin(request({ owner: "bob", startId: "other" }))).toMatchObject({ startId: "s1" });
    });

    it("is kept when the store is opened again (K4)", async () => {
      const { keys, reopen } = await fresh();
      await keys.begin(request());
      await keys.begin(request({ key: "l", startId: "s2" }));
      await keys.finish(KEY, "the answer");
      const kept = await reopen?.();
      if (kept === undefined) return;
      opened.push(kept);
      expect(await kept.begin(request({ startId: "s3" }))).toMatchObject({ startId: "s1", answer: "the answer" });
      expect(await kept.begin(request({ key: "l", startId: "s3" }))).toMatchObject({ startId: "s2" });
    });
  });
}

const AT = "2026-01-02T00:00:00.000Z";
const KEY = { owner: "ada", key: "k" };
const at = (hours: number): string => new Date(Date.parse(AT) + hours * 3_600_000).toISOString();

function request(more: Partial<Parameters<RequestKeyStore["begin"]>[0]> = {}): NewRequest & { readonly since: string } {
  return { ...KEY, fingerprint: "f1", startId: "s1", at: AT, since: at(-24), ...more };
}
