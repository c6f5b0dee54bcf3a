import { describe, expect, it } from "vitest";
import type { OpenStore } from "./opened-store.ts";
import { AT, creation, OWNER, update } from "./samples.ts";

export function ledgerRules(open: OpenStore): void {
  describe("cursors, energy and blob rows", () => {
    it("keep a reader's place", async () => {
      const { store } = await open();
      expect(await store.readCursor("r")).toBe(0);
      await store.commit(creation("s", { cursor: { name: "r", seq: 5 } }));
      await store.commit(update("s", 1, { cursor: { name: "q", seq: 7 } }));
      await store.commit(update("s", 2, { cursor: { name: "r", seq: 6 } }));
      expect([await store.readCursor("r"), await store.readCursor("q")]).toEqual([6, 7]);
    });

    it("add up what was spent, by session and by owner", async () => {
      const { store } = await open();
      const spent = (units: number) =>
        ({ at: AT, cause: "tool", units, toolId: "demo::greet", reference: "a" }) as const;
      await store.commit(creation("s", { energy: [spent(1.5), spent(2)] }));
      await store.commit({ sessionId: "s", owner: "bob", energy: [spent(4)] });
      await store.commit(creation("t", { owner: "bob", energy: [spent(8)] }));
      await store.commit({ sessionId: "", owner: OWNER, energy: [{ at: AT, cause: "replenish", units: -16 }] });
      expect(await store.readEnergy({})).toEqual({ units: -0.5, rows: 5 });
      expect(await store.readEnergy({ sessionId: "s" })).toEqual({ units: 7.5, rows: 3 });
      expect(await store.readEnergy({ owner: "bob" })).toEqual({ units: 12, rows: 2 });
      expect(await store.readEnergy({ sessionId: "s", owner: "bob" })).toEqual({ units: 4, rows: 1 });
      expect(await store.readEnergy({ sessionId: "nobody" })).toEqual({ units: 0, rows: 0 });
    });

    it("know a blob's owners", async () => {
      const { store } = await open();
      const ref = { $blob: "ab".repeat(32), bytes: 7, mediaType: "text/plain" };
      await store.commit(
        creation("s", {
          blobs: [
            { ref, at: AT },
            { ref, at: "later" },
          ],
        }),
      );
      await store.commit(creation("t", { owner: "bob", blobs: [{ ref: { ...ref, mediaType: "text/html" }, at: AT }] }));
      expect(await store.readBlobRow(ref.$blob, OWNER)).toEqual({ ref, at: AT, owner: OWNER });
      expect(await store.readBlobRow(ref.$blob, "bob")).toMatchObject({
        owner: "bob",
        ref: { mediaType: "text/html" },
      });
      expect(await store.readBlobRow(ref.$blob, "eve")).toBeUndefined();
      expect(await store.readBlobRow(ref.$blob)).toMatchObject({ ref: { $blob: ref.$blob } });
      expect(await store.readBlobRow("cd".repeat(32))).toBeUndefined();
    });
  });
}
