import { expect, it } from "vitest";
import { createTurns } from "./turns.ts";

it("does work of one name in turn, also after work that failed, and other work meanwhile", async () => {
  const inTurn = createTurns();
  const told: string[] = [];
  const first = Promise.withResolvers<void>();
  const failing = inTurn("a", async () => {
    await first.promise;
    told.push("a1");
    throw new Error("failed");
  });
  const waiting = ["a2", "a3"].map((name) => inTurn("a", async () => void told.push(name)));
  await inTurn("b", async () => void told.push("b"));
  expect(told).toEqual(["b"]);
  first.resolve();
  await expect(failing).rejects.toThrow("failed");
  await Promise.all(waiting);
  expect(told).toEqual(["b", "a1", "a2", "a3"]);
});
