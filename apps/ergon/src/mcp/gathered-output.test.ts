import { Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { gatheredOutput } from "./gathered-output.ts";

/** Counts how often it is really written to. */
function counted(): { readonly output: Writable; readonly writes: string[] } {
  const writes: string[] = [];
  const output = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      writes.push(String(chunk));
      done();
    },
    writev: (chunks, done) => {
      writes.push(chunks.map(({ chunk }) => String(chunk)).join(""));
      done();
    },
  });
  return { output, writes };
}

describe("an output that gathers", () => {
  it("writes at once what came in one turn, in order, and the next turn's after it", async () => {
    const { output, writes } = counted();
    const gathered = gatheredOutput(output);
    for (const text of ["a", "b", "c"]) gathered.write(text);
    expect(writes).toEqual([]);
    await turn();
    await turn();
    gathered.write("d");
    await turn();
    await turn();
    expect(writes).toEqual(["abc", "d"]);
  });

  it("loses nothing when it ends in the same turn", async () => {
    const { output, writes } = counted();
    const gathered = gatheredOutput(output);
    gathered.write("a");
    gathered.write("b");
    await new Promise<void>((resolve) => gathered.end("c", () => resolve()));
    expect(writes.join("")).toBe("abc");
  });
});
