import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createSystemClock } from "../memory/clock.ts";
import { silentLogger } from "../memory/logger.ts";
import { defineAction, defineTool } from "../tools/define.ts";
import { createToolGate } from "../tools/gate/gate.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { createToolEntities, ENTITY_SOURCE_TAG } from "./tool-entities.ts";

const ana = { kind: "person", id: "p1", name: "Ana" };

function world(answer: () => unknown) {
  const registry = new ToolRegistry();
  let asked = 0;
  const names = registry.register(
    defineTool({
      name: "names",
      description: "Names.",
      argsSchema: z.object({}),
      tags: [ENTITY_SOURCE_TAG, "people"],
      run: () => {
        asked += 1;
        return answer();
      },
    }),
  );
  const greet = registry.register(
    defineAction({ id: "greet", description: "Greets.", tags: ["people"], actionFn: async () => ({ success: true }) }),
  );
  const other = registry.register(
    defineAction({ id: "other", description: "Else.", tags: ["data"], actionFn: async () => ({ success: true }) }),
  );
  const clock = createSystemClock();
  const entities = createToolEntities({
    registry,
    gate: createToolGate({ registry, clock, logger: silentLogger }),
    clock,
    owner: "o",
  });
  return { entities, names, greet, other, asked: () => asked };
}

describe("the names that packs know", () => {
  it("are asked for when a tool of the pack may be meant, and kept for a while", async () => {
    const { entities, greet, other, asked } = world(() => ({ entities: [ana] }));
    expect(await entities([other])).toEqual([]);
    expect(asked()).toBe(0);
    expect(await entities([other, greet])).toEqual([ana]);
    expect(await entities([greet])).toEqual([ana]);
    expect(asked()).toBe(1);
  });

  it("come with their pack's other words for a kind, and with the verbs that change such a thing", async () => {
    const kinds = { person: { aliases: ["employee"], verbs: ["hire"] } };
    const { entities, greet } = world(() => ({ entities: [ana, { ...ana, kind: "toString" }], kinds }));
    const [known, other] = await entities([greet]);
    expect(known).toEqual({ ...ana, kindAliases: ["employee"], kindVerbs: ["hire"] });
    expect(other).toEqual({ ...ana, kind: "toString" });
  });

  it("may come as an action's data, and may be many", async () => {
    const many = Array.from({ length: 2_000 }, (_, n) => ({ ...ana, id: `p${String(n)}`, name: "Ana ".repeat(10) }));
    const { entities, greet } = world(() => ({ success: true, data: { entities: many } }));
    expect(await entities([greet])).toHaveLength(2_000);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("down"))],
    ["says no", () => ({ success: false, error: { message: "down" } })],
    ["says something else", () => ["Ana"]],
  ])("are asked for again when their source %s", async (_, answer) => {
    const { entities, greet, asked } = world(answer);
    await expect(entities([greet])).rejects.toMatchObject({ name: "ErgonError" });
    await expect(entities([greet])).rejects.toMatchObject({ name: "ErgonError" });
    expect(asked()).toBe(2);
  });
});
