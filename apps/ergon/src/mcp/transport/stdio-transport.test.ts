import { PassThrough, Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { createStdioTransport, MAX_MESSAGE_BYTES } from "./stdio-transport.ts";

const ping = (id: number): JSONRPCMessage => ({ jsonrpc: "2.0", id, method: "ping" });
const line = (message: unknown): string => `${JSON.stringify(message)}\n`;

/** Counts how often it is really written to; `free` lets what is held go. */
function slow(highWaterMark = 1024) {
  const writes: string[] = [];
  let free: (() => void) | undefined;
  let isHeld = false;
  const output = new Writable({
    decodeStrings: false,
    highWaterMark,
    write: (chunk, _encoding, done) => {
      writes.push(String(chunk));
      if (isHeld) free = done;
      else done();
    },
  });
  return { output, writes, hold: () => (isHeld = true), free: () => free?.() };
}

async function opened(output = slow().output) {
  const input = new PassThrough();
  const [seen, heard, errors]: [JSONRPCMessage[], JSONRPCMessage[], Error[]] = [[], [], []];
  const transport = createStdioTransport({ input, output }, (message) => seen.push(message));
  transport.onmessage = (message) => void heard.push(message);
  transport.onerror = (error) => void errors.push(error);
  await transport.start();
  return { input, transport, seen, heard, errors };
}

describe("the protocol over our own pipes", () => {
  it("hands on every message, passes over what is none, and goes on", async () => {
    const { input, seen, heard, errors } = await opened();
    input.write(line(ping(1)) + "no JSON\n" + line({ jsonrpc: "2.0", id: 2 }) + line(ping(3)));
    await turn();
    expect(heard).toEqual([ping(1), ping(3)]);
    expect(seen).toEqual(heard);
    expect(errors).toHaveLength(2);
  });

  it("writes at once what is sent in one turn, in order, and the next turn's after it", async () => {
    const { output, writes } = slow();
    const { transport } = await opened(output);
    for (const id of [1, 2, 3]) void transport.send(ping(id));
    expect(writes).toEqual([]);
    await turn();
    await turn();
    await transport.send(ping(4));
    await turn();
    await turn();
    expect(writes).toEqual([[1, 2, 3].map((id) => line(ping(id))).join(""), line(ping(4))]);
  });

  it("writes the answer to the only question at once, and gathers those to many", async () => {
    const { output, writes } = slow();
    const { input, transport } = await opened(output);
    const answer = (id: number): JSONRPCMessage => ({ jsonrpc: "2.0", id, result: {} });
    input.write(line(ping(1)));
    await turn();
    void transport.send(ping(7));
    void transport.send(answer(1));
    expect(writes).toEqual([line(ping(7)) + line(answer(1))]);
    input.write(line(ping(2)) + line(ping(3)));
    await turn();
    void transport.send(answer(2));
    expect(writes).toHaveLength(1);
    void transport.send(answer(3));
    expect(writes.slice(1)).toEqual([line(answer(2)) + line(answer(3))]);
    await turn();
    expect(writes).toHaveLength(2);
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 4 } };
    input.write(line(ping(4)) + line(ping(5)) + line(cancelled));
    await turn();
    void transport.send(answer(5));
    expect(writes.slice(2)).toEqual([line(answer(5))]);
  });

  it("lets time pass between progress and the answer that follows it at once", async () => {
    const { output, writes } = slow();
    const { input, transport } = await opened(output);
    const progress: JSONRPCMessage = {
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken: 1, progress: 1 },
    };
    const answer: JSONRPCMessage = { jsonrpc: "2.0", id: 1, result: {} };
    input.write(line(ping(1)));
    await turn();
    void transport.send(progress);
    void transport.send(answer);
    await turn();
    await turn();
    expect(writes).toEqual([line(progress)]);
    await expect.poll(() => writes).toEqual([line(progress), line(answer)]);
    input.write(line(ping(1)));
    await turn();
    void transport.send(progress);
    void transport.send(answer);
    await transport.close();
    expect(writes.slice(2).join("")).toBe(line(progress) + line(answer));
  });

  it("lets a sender wait while the other side does not read", async () => {
    const { output, writes, hold, free } = slow(10);
    const { transport } = await opened(output);
    hold();
    await transport.send(ping(1));
    await turn();
    await turn();
    let isSent = false;
    const sent = transport.send(ping(2)).then(() => (isSent = true));
    await turn();
    expect(isSent).toBe(false);
    free();
    await turn();
    free();
    await sent;
    expect(writes.join("")).toBe(line(ping(1)) + line(ping(2)));
  });

  it.each(["end", "close", "transport"])("closes once at %s, with what was sent before it written", async (how) => {
    const { output, writes } = slow();
    const { input, transport } = await opened(output);
    let closes = 0;
    transport.onclose = () => (closes += 1);
    await transport.send(ping(1));
    if (how === "end") input.end();
    else if (how === "close") input.destroy();
    else await transport.close();
    input.resume();
    await transport.closed;
    await transport.close();
    expect(closes).toBe(1);
    expect(writes).toEqual([line(ping(1))]);
    await expect(transport.send(ping(2))).rejects.toThrow("closed");
  });

  it("closes when nobody can be written to any more, and stays calm at what fails after it", async () => {
    const { output } = slow();
    const { transport, errors } = await opened(output);
    output.emit("error", new Error("EPIPE"));
    await transport.closed;
    output.emit("error", new Error("EPIPE"));
    expect(errors.map(({ message }) => message)).toEqual(["EPIPE"]);
  });

  it("closes at a message that is longer than any may be", async () => {
    const { input, transport, heard, errors } = await opened();
    input.write(line(ping(1)));
    input.write("x".repeat(MAX_MESSAGE_BYTES + 1));
    await transport.closed;
    expect(heard).toEqual([ping(1)]);
    expect(errors[0]?.message).toMatch(/longer than/);
  });
});
