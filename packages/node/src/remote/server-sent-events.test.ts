import type { EventSourceMessage } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_FRAME_CHARACTERS, readServerSentEvents } from "./server-sent-events.ts";

describe("reading server-sent events", () => {
  it.each([
    ["data: a\n\n", [{ data: "a" }]],
    ["id: 7\nevent: x\ndata: a\n\n", [{ id: "7", event: "x", data: "a" }]],
    ["data:a\ndata: b\ndata\n\n", [{ data: "a\nb\n" }]],
    ["retry: 10\n\nevent: x\n\n", []],
    [": sign of life\n\ndata: a\n\n", [undefined, { data: "a" }]],
    ["data: a\r\n\r\ndata: b\r\rdata: c\n\n", [{ data: "a" }, { data: "b" }, { data: "c" }]],
    ["data: never ended", []],
    ["data: a: b:c\n\n", [{ data: "a: b:c" }]],
  ])("reads %j", async (text, expected) => {
    expect(await read([text])).toEqual(expected);
  });

  it("reads the same however the bytes are cut", async () => {
    const text = ': hi\nid: 1\nevent: é✓\ndata: {"a":"𝄞"}\r\n\r\ndata: b\rdata: c\n\nid: 2\ndata: d\n\n';
    const whole = await read([text]);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 90 }), { maxLength: 8 }), async (cuts) => {
        expect(await read([text], cuts)).toEqual(whole);
      }),
      { numRuns: 200 },
    );
  });

  it("gives up on a frame beyond its bound", async () => {
    const half = "x".repeat(MAX_FRAME_CHARACTERS / 2);
    await expect(read([`data: ${half}`, half])).rejects.toThrow(RangeError);
    await expect(read([`data: ${half}\n`, `data: ${half}\n`, "data: x"])).rejects.toThrow(RangeError);
    expect(await read([`data: ${half}\n`, "\n"])).toEqual([{ data: half }]);
  });
});

async function read(
  texts: readonly string[],
  cuts: readonly number[] = [],
): Promise<(EventSourceMessage | undefined)[]> {
  const bytes = new TextEncoder().encode(texts.join(""));
  const pieces = cuts.length === 0 ? texts.map((text) => new TextEncoder().encode(text)) : cut(bytes, cuts);
  const events: (EventSourceMessage | undefined)[] = [];
  for await (const event of readServerSentEvents(from(pieces))) events.push(event);
  return events;
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [0, ...[...at].sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.slice(places[index], end));
}

async function* from(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
