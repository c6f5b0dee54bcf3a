import { describe, expect, it } from "vitest";
import type { Ids } from "../../src/ports/ids.ts";
import { SessionId } from "../../src/schema/session.ts";

/** What every source of identifiers must do. */
export function idsContract(name: string, open: () => Ids): void {
  describe(`the ids contract: ${name}`, () => {
    it("makes each one once, and later ones sort after earlier ones", () => {
      const ids = open();
      const made = Array.from({ length: 20_000 }, () => ids.next("s"));
      expect(new Set(made).size).toBe(made.length);
      expect(made.toSorted()).toEqual(made);
    });

    it("begins with the prefix and fits wherever an id goes", () => {
      const ids = open();
      expect(ids.next("session")).toMatch(/^session_/);
      expect(SessionId.safeParse(ids.next("session")).success).toBe(true);
      expect(SessionId.safeParse(ids.next("")).success).toBe(true);
    });

    it("does not repeat what another source makes", () => {
      const [one, two] = [open(), open()];
      const made = Array.from({ length: 1_000 }, () => [one.next("a"), two.next("a")]).flat();
      expect(new Set(made).size).toBe(made.length);
    });
  });
}
