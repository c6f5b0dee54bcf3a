import { once } from "node:events";
import type { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { createGuard, MAX_GUARD_STARTS } from "./guard.ts";

describe("the guard of server processes", () => {
  it("is started again when something ends it, and given up when it ends each time", async () => {
    const guard = createGuard(["/bin/sh", "-c", "exit 0"]);
    const pipes = new Set<Writable>();
    for (;;) {
      try {
        const pipe = guard.pipe();
        if (!pipes.has(pipe)) await once(pipe, "close");
        pipes.add(pipe);
      } catch (thrown) {
        expect((thrown as Error).message).toBe("The guard of server processes ends whenever it is started.");
        break;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(pipes.size).toBe(MAX_GUARD_STARTS);
  });
});
