import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { boundedAnswer, MAX_MESSAGE_BYTES } from "./bounded-answer.ts";

describe("an answer of a server", () => {
  it.each([
    [MAX_MESSAGE_BYTES, true],
    [MAX_MESSAGE_BYTES + 1, false],
  ])("of %i bytes is read to its end: %s", async (bytes, isRead) => {
    const read = {
      text: boundedAnswer(answer("application/json", [bytes])).text(),
      json: boundedAnswer(answer("application/json", ['"', bytes - 2, '"']))
        .json()
        .then(String),
      body: wholeBody(boundedAnswer(answer("application/json", [bytes]))),
    };
    if (isRead) {
      expect((await read.text).length).toBe(bytes);
      expect((await read.json).length).toBe(bytes - 2);
      expect((await read.body).length).toBe(bytes);
    } else {
      for (const reading of Object.values(read)) await expect(reading).rejects.toMatchObject({ code: "answer_lost" });
    }
  });

  it("is bounded though it was sent shorter, and has no way to be read without a bound", async () => {
    const long = answer("application/json", [MAX_MESSAGE_BYTES + 1]);
    long.headers.set("content-length", "10");
    long.headers.set("content-encoding", "gzip");
    await expect(boundedAnswer(long).text()).rejects.toMatchObject({ code: "answer_lost" });
    const small = boundedAnswer(answer("application/json", ["{}"]));
    for (const way of ["arrayBuffer", "blob", "bytes", "clone", "formData"] as const)
      expect(() => small[way]()).toThrow("An answer is read as text");
    expect(small.body).not.toBeNull();
    expect(await small.text()).toBe("{}");
  });

  it("may go on for ever as a stream of messages, each within its bounds", async () => {
    const half = MAX_MESSAGE_BYTES / 2;
    const parts = Array.from({ length: 6 }, () => [half, "\n", "\n"] as const).flat();
    const read = await wholeBody(boundedAnswer(answer("text/event-stream", parts)));
    expect(read.length).toBe(6 * (half + 2));
  });

  it("ends when one message of a stream has no end", async () => {
    const half = MAX_MESSAGE_BYTES / 2;
    const reading = wholeBody(boundedAnswer(answer("text/event-stream", [half, "\n", half, "x"])));
    await expect(reading).rejects.toMatchObject({ code: "answer_lost" });
  });
});

async function wholeBody({ body }: Response): Promise<string> {
  return text(body as NonNullable<typeof body>);
}

function answer(type: string, parts: readonly (number | string)[]): Response {
  const chunks = parts.map((part) => Buffer.from(typeof part === "number" ? "x".repeat(part) : part));
  return new Response(ReadableStream.from(chunks), { headers: { "content-type": type } });
}
