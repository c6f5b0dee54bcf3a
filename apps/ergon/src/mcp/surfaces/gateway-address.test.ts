import { describe, expect, it } from "vitest";
import { addressOf, partsOf, shownBlock } from "./gateway-address.ts";

describe("a block of a server's content", () => {
  it.each([
    [
      { type: "resource_link", uri: "demo://a" },
      { type: "resource_link", uri: "ergon://servers/ev/demo://a" },
    ],
    [
      { type: "resource", resource: { uri: "demo://a", text: "x" } },
      { type: "resource", resource: { uri: "ergon://servers/ev/demo://a", text: "x" } },
    ],
  ])("names its resource by an address that can be read here: %j", (block, shown) => {
    expect(shownBlock("ev", block)).toEqual(shown);
  });

  it.each([
    { type: "resource_link", uri: "https://x.example/a" },
    { type: "resource", resource: "odd" },
    { type: "text", text: "demo://a", uri: "demo://a" },
    "text",
    null,
  ])("is left as it is otherwise: %j", (block) => {
    expect(shownBlock("ev", block)).toEqual(block);
  });

  it("is found again by its address", () => {
    const uri = addressOf("ev", addressOf("inner", "demo://a"));
    expect(partsOf(uri)).toEqual({ part: "ev", address: "ergon://servers/inner/demo://a" });
    expect(partsOf("demo://a")).toEqual({ part: undefined, address: undefined });
  });
});
