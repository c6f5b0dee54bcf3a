import { describe, expect, it } from "vitest";
import { createKeptViews, MAX_KEPT_CHARS, MAX_KEPT_VIEWS } from "./kept-views.ts";

const ada = (sessionId: string) => ({ owner: "ada", sessionId });

describe("kept views", () => {
  it("are read once while their session stays as it is, and again when it changed", async () => {
    let mark = 1;
    let reads = 0;
    const views = createKeptViews(() => mark);
    const read = async () => ({ reads: (reads += 1) });
    expect(await views.textOf(ada("a"), read)).toBe('{"reads":1}');
    expect(await views.textOf(ada("a"), read)).toBe('{"reads":1}');
    mark += 1;
    expect(await views.textOf(ada("a"), read)).toBe('{"reads":2}');
  });

  it("do not keep what was read before a change that came meanwhile", async () => {
    let mark = 1;
    const views = createKeptViews(() => mark);
    await views.textOf(ada("a"), async () => {
      mark += 1;
      return "old";
    });
    expect(await views.textOf(ada("a"), async () => "new")).toBe('"new"');
  });

  it("are for their owner alone", async () => {
    const views = createKeptViews(() => 1);
    await views.textOf(ada("a"), async () => "hers");
    const eve = views.textOf({ owner: "eve", sessionId: "a" }, () => Promise.reject(new Error("No session.")));
    await expect(eve).rejects.toThrow("No session.");
    expect(await views.textOf(ada("a"), async () => "again")).toBe('"hers"');
  });

  it("are kept up to their bounds", async () => {
    const views = createKeptViews(() => 1);
    const isKept = async (sessionId: string, value: string) => {
      await views.textOf(ada(sessionId), async () => value);
      return (await views.textOf(ada(sessionId), async () => "read again")) !== '"read again"';
    };
    expect(await isKept("fits", "x".repeat(MAX_KEPT_CHARS - 2))).toBe(true);
    expect(await isKept("long", "x".repeat(MAX_KEPT_CHARS - 1))).toBe(false);
    for (let index = 1; index < MAX_KEPT_VIEWS; index += 1) await isKept(`s${String(index)}`, "x");
    expect(await views.textOf(ada("s1"), async () => "read again")).toBe('"x"');
    await isKept("one more", "x");
    expect(await views.textOf(ada("fits"), async () => "gone")).toBe('"gone"');
  });
});
