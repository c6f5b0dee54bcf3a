import { describe, expect, it } from "vitest";
import { type Embedder, MAX_EMBEDDED_CHARS, similarity } from "../../src/ports/embedder.ts";

/** What every Embedder must do. */
export function embedderContract(name: string, open: () => Promise<Embedder>): void {
  describe(`the embedder contract: ${name}`, () => {
    it("gives one vector for each text, in order, all of one space (V1)", async () => {
      const embedder = await open();
      const texts = ["a cat sleeps", "stock prices fell", "", "ein Satz über Käse", "猫が眠る"];
      const embeddings = await embedder.embed(texts);
      expect(embeddings).toHaveLength(texts.length);
      for (const { model, dimension, vector } of embeddings) {
        expect(model).toBe(embedder.model);
        expect(dimension).toBe(embeddings[0]?.dimension);
        expect(vector).toHaveLength(dimension);
        expect(vector.every(Number.isFinite)).toBe(true);
        expect(Math.hypot(...vector)).toBeCloseTo(1, 2);
      }
      expect(await embedder.embed([])).toEqual([]);
    });

    it("gives the same text the same vector, alone or among others (V2)", async () => {
      const embedder = await open();
      const [alone] = await embedder.embed(["the same words"]);
      const [, among] = await embedder.embed(["others", "the same words"]);
      expect(alone).toBeDefined();
      expect(among === undefined || alone === undefined ? 0 : similarity(alone, among)).toBeCloseTo(1, 4);
    });

    it("puts what is about one thing closer than what is not", async () => {
      const embedder = await open();
      const [query, near, far] = await embedder.embed([
        "Which skills is Ana missing for the analyst role?",
        "the skills that a person is missing for a role",
        "draw a chart of rainfall by month",
      ]);
      if (query === undefined || near === undefined || far === undefined) throw new Error("vectors are missing");
      expect(similarity(query, near)).toBeGreaterThan(similarity(query, far) ?? 1);
    });

    it("takes a text of any length", async () => {
      const [embedding] = await (await open()).embed(["word ".repeat(MAX_EMBEDDED_CHARS)]);
      expect(embedding?.vector.length).toBeGreaterThan(0);
    });
  });
}
