import { parseJSONRPCMessage } from "@modelcontextprotocol/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPlainMessage } from "./plain-message.ts";

const KEYS = [
  "name",
  "progressToken",
  "io.modelcontextprotocol/related-task",
  "io.modelcontextprotocol/protocolVersion",
];
const meta = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...KEYS), fc.jsonValue()));
const params = fc.oneof(
  fc.dictionary(fc.constantFrom("name", "arguments", "cursor"), fc.jsonValue()),
  fc.record({ name: fc.jsonValue(), _meta: meta }, { requiredKeys: [] }),
);
const strange = fc.oneof(fc.jsonValue(), params);
const message = fc.record(
  {
    jsonrpc: fc.constantFrom<unknown>("2.0", "1.0", 2),
    id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.double(), fc.object()),
    method: fc.oneof(fc.string(), fc.integer()),
    params: strange,
    result: strange,
    error: strange,
    other: fc.integer(),
  },
  { requiredKeys: [] },
);

describe("a message that is plain", () => {
  it("is one that the protocol's schema takes, too, and takes as it is", () => {
    fc.assert(
      fc.property(fc.oneof(message, fc.jsonValue()), (value) => {
        if (isPlainMessage(value)) expect(parseJSONRPCMessage(value)).toEqual(value);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "x", _meta: { progressToken: 1 } } },
    { jsonrpc: "2.0", id: "a", method: "ping" },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 0, result: { content: [] } },
  ])("is %j", (value) => expect(isPlainMessage(value)).toBe(true));

  it.each([
    { jsonrpc: "2.0", id: 1, error: { code: 1, message: "x" } },
    { jsonrpc: "2.0", id: 1.5, method: "ping" },
    { jsonrpc: "2.0", id: 2 ** 60, method: "ping" },
    { jsonrpc: "2.0", id: 1, method: "ping", params: { _meta: 5 } },
    { jsonrpc: "2.0", id: 1, method: "ping", params: { _meta: { progressToken: {} } } },
    { jsonrpc: "2.0", id: 1, result: { _meta: [] } },
    { jsonrpc: "2.0", result: {} },
    { jsonrpc: "2.0", id: 1, method: "ping", result: {} },
    { jsonrpc: "2.0", id: 1 },
    [],
    null,
  ])("is not %j", (value) => expect(isPlainMessage(value)).toBe(false));
});
