import { similarity } from "@ergon/core/store-kit";
import { embedderContract } from "@ergon/core/testing/contracts";
import { describe, expect, it } from "vitest";
import { createBundledEmbedder } from "./bundled-embedder.ts";

const embedder = createBundledEmbedder();
embedderContract("the bundled sentence encoder", async () => embedder);

describe("the bundled sentence encoder", () => {
  it("finds what means the same in other words", async () => {
    const [question, paraphrase, other] = await embedder.embed([
      "How can I get promoted?",
      "steps to move up in my career",
      "convert a picture to black and white",
    ]);
    if (question === undefined || paraphrase === undefined || other === undefined)
      throw new Error("vectors are missing");
    expect(similarity(question, paraphrase)).toBeGreaterThan((similarity(question, other) ?? 1) + 0.05);
    expect(question).toMatchObject({ dimension: 512 });
  });

  it("leaves it to the program what becomes of an error that nobody caught", () => {
    const listeners = ["uncaughtException", "unhandledRejection"].flatMap((event) =>
      process.listeners(event as "uncaughtException").map(String),
    );
    expect(listeners.filter((text) => text.includes("throw ex"))).toEqual([]);
  });

  it("takes more texts than one batch holds", async () => {
    const texts = Array.from({ length: 40 }, (_, n) => `text number ${String(n)}`);
    expect(await embedder.embed(texts)).toHaveLength(40);
  });
});
