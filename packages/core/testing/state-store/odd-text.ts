import { describe, expect, it } from "vitest";
import type { OpenStore } from "./opened-store.ts";
import { creation, update, whole, inline } from "./samples.ts";

/** Text that has broken stores before: NUL, quotes, wildcards, case, other planes, combining marks, length. */
const ODD_TEXTS = [
  "",
  "a\0b",
  "a\0c",
  "'; DROP TABLE sessions; --",
  "%_",
  "Ä",
  "ä",
  "a\u0308",
  "\uffff",
  "🜂🜃",
  "\n",
  "x".repeat(2_000),
];

export function textRules(open: OpenStore): void {
  describe("odd text", () => {
    it.each(ODD_TEXTS.map((text, n) => [n, text] as const))(
      "%i comes back as it went in, as key and as value",
      async (_, text) => {
        const { store } = await open();
        const others = ODD_TEXTS.filter((other) => other !== text).map((other) => inline(other, other, other));
        await store.commit(creation("s", { context: [...others, inline(text, text, { [text]: text })], owner: text }));
        expect(await store.readContext("s", [text])).toEqual([inline(text, text, { [text]: text })]);
        expect((await store.readSession("s"))?.owner).toBe(text);
        await store.commit(
          update("s", 1, { journal: [whole(text, { stepId: text, request: text })], cursor: { name: text, seq: 3 } }),
        );
        expect(await store.readJournal({ sessionId: "s", stepId: text, order: "newest", limit: 2 })).toMatchObject([
          { position: text, request: text },
        ]);
        expect(await store.readCursor(text)).toBe(3);
      },
    );

    it("sorts as its UTF-8 bytes do", async () => {
      const { store } = await open();
      const sorted = [
        "",
        "\0",
        "A",
        "a",
        "a\0",
        "aa",
        "b",
        "~",
        "\u007f",
        "\u0080",
        "\ud7ff",
        "\ue000",
        "\uffff",
        "\u{10000}",
        "\u{10ffff}",
      ];
      await store.commit(creation("s", { journal: sorted.toReversed().map((position) => whole(position)) }));
      const rows = await store.readJournal({ sessionId: "s", order: "oldest", limit: 100 });
      expect(rows.map(({ position }) => position)).toEqual(sorted);
    });

    it("may hold half a surrogate pair in a value", async () => {
      const { store } = await open();
      await store.commit(creation("s", { context: [inline("", "k", { "\udc00": "\ud800" })] }));
      expect(await store.readContext("s", [""])).toEqual([inline("", "k", { "\udc00": "\ud800" })]);
    });
  });
}
