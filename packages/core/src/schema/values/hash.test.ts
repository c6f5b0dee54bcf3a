import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, createTextHashes, MAX_KNOWN_CHARS, MAX_KNOWN_HASHES, sha256Hex } from "./hash.ts";
import type { Json } from "./json.ts";

describe("sha256Hex", () => {
  it.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  ])("knows the published digest of %j", (text, digest) => {
    expect(sha256Hex(text)).toBe(digest);
  });

  it("hashes text as its UTF-8 bytes", () => {
    const text = "naïve – 名前 🜂";
    expect(sha256Hex(text)).toBe(sha256Hex(new TextEncoder().encode(text)));
  });

  it("agrees with the runtime's own digest", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
        expect(sha256Hex(bytes)).toBe(Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join(""));
      }),
      { numRuns: 50 },
    );
  });
});

describe("createTextHashes", () => {
  it("hashes as sha256Hex does, within its bounds and past them, the first time and again", () => {
    const hashOf = createTextHashes();
    const texts = Array.from({ length: MAX_KNOWN_HASHES + 2 }, (_, n) => `{"n":${String(n)}}`);
    texts.push("x".repeat(MAX_KNOWN_CHARS), "x".repeat(MAX_KNOWN_CHARS + 1), "", "ä");
    for (const text of [...texts, ...texts]) expect(hashOf(text)).toBe(sha256Hex(text));
  });
});

describe("canonicalJson", () => {
  it("sorts keys at every depth and drops absent fields", () => {
    const value = { b: [{ y: 1, x: null }], a: { d: -0, c: "\u2028" }, gone: undefined };
    expect(canonicalJson(value as unknown as Json)).toBe('{"a":{"c":"\u2028","d":0},"b":[{"x":null,"y":1}]}');
  });

  it("is JSON for the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        expect(JSON.parse(canonicalJson(value as Json))).toEqual(plain);
      }),
    );
  });

  it("does not depend on the order in which fields were set", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).toReversed());
        expect(canonicalJson(turned as Json)).toBe(canonicalJson(value as Json));
      }),
    );
  });
});
