import type { Embedder, Tool } from "@ergon/core";
import { createHashEmbedder, similarity } from "@ergon/core/store-kit";
import { adaptToolMetadata } from "@ergon/core/engine";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createToolRanker, MAX_EMBEDDED_TOOLS } from "./rank-tools.ts";

function tool(name: string, description: string): Tool {
  return adaptToolMetadata({ name, description, argsSchema: z.object({}), run: () => null });
}

describe("ranking tools", () => {
  it("embeds each tool once, and no more than the bound says", async () => {
    const hashed = createHashEmbedder();
    let embedded = 0;
    const embedder: Embedder = {
      model: hashed.model,
      embed: (texts) => {
        embedded += texts.length;
        return hashed.embed(texts);
      },
    };
    const { rank } = createToolRanker({ embedder, similarity });
    const many = Array.from({ length: MAX_EMBEDDED_TOOLS + 1 }, (_, n) =>
      tool(`t${String(n)}`, `Paints thing number ${String(n)}.`),
    );
    await rank("paint it", many.slice(1));
    expect(embedded).toBe(MAX_EMBEDDED_TOOLS + 1);
    await rank("paint it", many.slice(1));
    expect(embedded).toBe(MAX_EMBEDDED_TOOLS + 2);
    await rank("cook it", many);
    expect(embedded).toBe(MAX_EMBEDDED_TOOLS + 3);
  });

  it("knows new tools at once, and forms of a word as one", async () => {
    const { rank } = createToolRanker({ embedder: createHashEmbedder(), similarity });
    const tools = [tool("sum_up", "Summarizes a report."), tool("draw", "Draws a chart.")];
    expect((await rank("drawing charts", tools))[0]?.tool.id).toBe("draw");
    const more = [...tools, tool("segment", "Segments customers into groups.")];
    expect((await rank("which segments are there?", more))[0]).toMatchObject({
      tool: { id: "segment" },
      because: ["segments"],
    });
    expect(await rank("anything", [])).toEqual([]);
  });
});
