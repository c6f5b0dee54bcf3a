import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import type { ExitCode } from "./exit-codes.ts";
import { watchInterrupts } from "./interrupts.ts";

const before = { SIGINT: process.listeners("SIGINT"), SIGTERM: process.listeners("SIGTERM") };
afterEach(() => {
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    for (const listener of process.listeners(name)) {
      if (!before[name].includes(listener)) process.off(name, listener);
    }
  }
});

it("asks first, and waits for the clean-up only so long", async () => {
  const { interrupts, asked, forced } = watch(50);
  process.emit("SIGINT");
  expect(interrupts.signal.aborted).toBe(true);
  expect(interrupts.exitCode()).toBe(130);
  expect({ asked, forced }).toEqual({ asked: ["asked"], forced: [] });
  await sleep(100);
  expect(forced).toEqual([130]);
});

it("ends at once when asked twice", () => {
  const { asked, forced } = watch(60_000);
  process.emit("SIGTERM");
  process.emit("SIGINT");
  expect({ asked, forced }).toEqual({ asked: ["asked"], forced: [130] });
});

it("knows of nothing while nothing came", () => {
  const { interrupts } = watch(50);
  expect(interrupts.signal.aborted).toBe(false);
  expect(interrupts.exitCode()).toBeUndefined();
});

function watch(cleanUpMs: number) {
  const asked: string[] = [];
  const forced: ExitCode[] = [];
  const interrupts = watchInterrupts({
    onFirst: () => asked.push("asked"),
    forceExit: (code) => forced.push(code),
    cleanUpMs,
  });
  return { interrupts, asked, forced };
}
