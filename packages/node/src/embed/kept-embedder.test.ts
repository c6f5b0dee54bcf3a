import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Embedder, silentLogger } from "@ergon/core";
import { createHashEmbedder, createMemoryLogger } from "@ergon/core/store-kit";
import { embedderContract } from "@ergon/core/testing/contracts";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openKeptVectors } from "./kept-embedder.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-vectors-"));
});
const opened: { readonly close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const { close } of opened.splice(0)) await close();
  rmSync(folder, { recursive: true, force: true });
});

function open(maxKept?: number) {
  const kept = openKeptVectors({
    path: join(folder, "vectors.db"),
    logger: silentLogger,
    ...(maxKept === undefined ? {} : { maxKept }),
  });
  opened.push(kept);
  return kept;
}

/** Says what it was really asked. */
function counted(model = "test/counted"): Embedder & { readonly asked: string[] } {
  const asked: string[] = [];
  const inner = createHashEmbedder();
  return {
    model,
    asked,
    embed: async (texts) => {
      asked.push(...texts);
      return (await inner.embed(texts)).map((vector) => ({ ...vector, model }));
    },
  };
}

embedderContract("kept vectors around another", async () => open().around(createHashEmbedder()));

describe("an embedder around which vectors are kept", () => {
  it("embeds a kept text once, also after a new start, and gives every text its own vector", async () => {
    const texts = ["greets somebody", "counts words", "greets somebody"];
    const plain = await counted().embed(texts);
    const first = counted();
    const kept = open();
    expect((await kept.around(first).embed(texts, { keep: true })).map(({ dimension }) => dimension)).toEqual([
      256, 256, 256,
    ]);
    expect(first.asked).toEqual(["greets somebody", "counts words"]);
    await kept.close();
    const second = counted();
    const again = await open()
      .around(second)
      .embed([...texts, "adds numbers"], { keep: true });
    expect(second.asked).toEqual(["adds numbers"]);
    for (const [at, { vector }] of plain.entries()) {
      for (const [place, value] of vector.entries()) expect(again[at]?.vector[place]).toBeCloseTo(value, 6);
    }
  });

  it("keeps nothing that it was not asked to keep", async () => {
    const embedder = counted();
    const around = open().around(embedder);
    await around.embed(["a person's message"]);
    await around.embed(["a person's message"]);
    expect(embedder.asked).toHaveLength(2);
  });

  it("gives no model the vector of another", async () => {
    const kept = open();
    await kept.around(counted("a")).embed(["text"], { keep: true });
    const other = counted("b");
    const [vector] = await kept.around(other).embed(["text"], { keep: true });
    expect({ model: vector?.model, asked: other.asked }).toEqual({ model: "b", asked: ["text"] });
  });

  it("forgets the oldest past its bound", async () => {
    const kept = open(2);
    for (const text of ["one", "two", "three"]) await kept.around(counted()).embed([text], { keep: true });
    const embedder = counted();
    await kept.around(embedder).embed(["two", "three", "one"], { keep: true });
    expect(embedder.asked).toEqual(["one"]);
  });

  it("moves a broken file aside, says so, and begins anew", async () => {
    const path = join(folder, "broken.db");
    writeFileSync(path, "not a database ".repeat(500));
    const logger = createMemoryLogger();
    const kept = openKeptVectors({ path, logger });
    expect(logger.entries()).toMatchObject([{ level: "warn", fields: { path, aside: `${path}.damaged` } }]);
    expect(readFileSync(`${path}.damaged`, "utf8")).toContain("not a database");
    await kept.around(counted()).embed(["text"], { keep: true });
    const embedder = counted();
    await kept.around(embedder).embed(["text"], { keep: true });
    expect(embedder.asked).toEqual([]);
    await kept.close();
  });

  it("goes on without its database, and says so", async () => {
    const logger = createMemoryLogger();
    const kept = openKeptVectors({ path: join(folder, "gone.db"), logger });
    await kept.close();
    expect(await kept.around(counted()).embed(["text"], { keep: true })).toHaveLength(1);
    expect(JSON.stringify(logger.entries())).toContain("Kept vectors are not available");
  });
});
