import { describe, expect, it } from "vitest";
import type { ContextWrite, StateStore } from "../../src/ports/state-store.ts";
import type { OpenStore } from "./opened-store.ts";
import { creation, update, inline } from "./samples.ts";

export function contextRules(open: OpenStore): void {
  describe("context", () => {
    it("holds the last value of each key in each scope", async () => {
      const { store } = await open();
      const rows: ContextWrite[] = [
        { scope: "", key: "a", value: { kind: "inline", value: { deep: [1, null] } } },
        { scope: "1a", key: "a", implicit: true, value: { kind: "output", position: "1a1" } },
        { scope: "1a", key: "b", value: { kind: "inline", value: null } },
      ];
      await store.commit(creation("s", { context: rows }));
      await store.commit(update("s", 1, { context: [{ scope: "", key: "b", value: { kind: "inline", value: 2 } }] }));
      await store.commit(
        update("s", 2, { context: [{ scope: "", key: "b", value: { kind: "output", position: "x" } }] }),
      );
      expect(await store.readContext("s", ["1a"])).toEqual(rows.slice(1));
      expect(await store.readContext("s", ["", "nowhere", "", "1a"])).toEqual([
        rows[0],
        { scope: "", key: "b", value: { kind: "output", position: "x" } },
        ...rows.slice(1),
      ]);
      expect(await store.readContext("t", [""])).toEqual([]);
    });

    it("loses the scopes inside a dropped one, before new rows are written", async () => {
      const { store } = await open();
      const scopes = ["", "1", "1a", "1a\0", "1a~", "1a\u{10ffff}", "1b", "2"];
      const context = scopes.map((scope) => inline(scope, "k", scope));
      await store.commit(creation("s", { context }));
      await store.commit(creation("t", { context }));
      await store.commit(update("s", 1, { dropScopes: ["1a", "nowhere"], context: [inline("1az", "k", 1)] }));
      expect(await scoped(store, "", 100)).toEqual([
        ...context.slice(0, 3),
        inline("1az", "k", 1),
        ...context.slice(6),
      ]);
      await store.commit(update("s", 2, { dropScopes: [""] }));
      expect(await scoped(store, "", 100)).toEqual(context.slice(0, 1));
      expect((await store.readScopes({ sessionId: "t", scopePrefix: "", limit: 100 })).items).toEqual(context);
    });

    it("is paged through by a scope's prefix", async () => {
      const { store } = await open();
      const scopes = ["", "1", "1a", "1a\uffff", "1a🜂", "1b", "2"];
      const context = scopes.flatMap((scope) => ["k", "l", "m"].map((key) => inline(scope, key, scope)));
      await store.commit(creation("s", { context: context.toReversed() }));
      await store.commit(creation("t", { context }));
      for (const limit of [1, 2, 3, 4, 100]) {
        expect(await scoped(store, "1a", limit)).toEqual(context.filter(({ scope }) => scope.startsWith("1a")));
        expect(await scoped(store, "", limit)).toEqual(context);
        expect(await scoped(store, "3", limit)).toEqual([]);
      }
    });
  });
}

async function scoped(store: StateStore, scopePrefix: string, limit: number): Promise<unknown[]> {
  const rows: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.readScopes({
      sessionId: "s",
      scopePrefix,
      limit,
      ...(cursor === undefined ? {} : { cursor }),
    });
    rows.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return rows;
}
