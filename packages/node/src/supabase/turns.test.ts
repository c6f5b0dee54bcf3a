import { expect, it } from "vitest";
import { createTurns, MAX_WAITING } from "./turns.ts";

it("runs one after the other, whatever became of the one before", async () => {
  const inTurn = createTurns();
  const seen: string[] = [];
  const work = (name: string, fails = false) =>
    inTurn(async () => {
      seen.push(`${name} begins`);
      await Promise.resolve();
      seen.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    });
  const results = await Promise.allSettled([work("a"), work("b", true), work("c")]);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});

it("refuses one more than may wait, and takes more once one is done", async () => {
  const inTurn = createTurns();
  let finish: () => void = () => undefined;
  const first = inTurn(() => new Promise<void>((resolve) => (finish = resolve)));
  const waiting = Array.from({ length: MAX_WAITING - 1 }, () => inTurn(async () => undefined));
  await expect(inTurn(async () => undefined)).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
  finish();
  await Promise.all([first, ...waiting]);
  await expect(inTurn(async () => 1)).resolves.toBe(1);
});
