import { describe, expect, it } from "vitest";
import { SECRET_SAMPLES } from "../../../testing/secret-samples.ts";
import { redactedStart, redactJson, redactSecrets } from "./redact.ts";
import { SECRET_FORMATS } from "./secret-formats.ts";

/** For a megabyte of what is worst for one pattern; it takes under one second alone. */
const WORST_MS = 10_000;

describe("credentials in a text", () => {
  it.each(SECRET_SAMPLES)("are hidden by their look: $issuer, $text", ({ secret, text }) => {
    const around = [text, `before ${text} after`, `("${text}")`, `x=${text}\ny`, JSON.stringify({ a: [text] })];
    for (const whole of around) {
      expect(redactSecrets(whole)).not.toContain(secret);
      expect(redactSecrets(whole)).toContain("[redacted]");
      expect(redactSecrets(redactSecrets(whole))).toBe(redactSecrets(whole));
    }
  });

  it("have a sample of every known format", () => {
    const issuers = new Set(SECRET_SAMPLES.map(({ issuer }) => issuer));
    expect(SECRET_FORMATS.map(({ issuer }) => issuer).filter((issuer) => !issuers.has(issuer))).toEqual([]);
  });

  it("are hidden where several stand side by side", () => {
    const all = SECRET_SAMPLES.filter(({ issuer }) => !issuer.startsWith("private keys"));
    const shown = redactSecrets(all.map(({ text }) => text).join("\n"));
    for (const { secret } of all) expect(shown).not.toContain(secret);
  });

  it("leave what stands around them", () => {
    expect(redactSecrets("see https://me:word@example.org/a?key=1234&b=2#c")).toBe(
      "see https://[redacted]@example.org/a?key=[redacted]&b=2#c",
    );
    expect(redactSecrets("-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----\nnext")).toBe(
      "[redacted]\nnext",
    );
  });

  it.each([
    "The desk-based task-force asked about risk-management-and-so-on.",
    "max_tokens=4096, primary_key: 5, sorted by key: name",
    "https://example.org/a?q=what&page=2#part and me@example.org, Asia, SG. and npm_config_cache",
    "sk-SK, gh_pages, hf_hub, glpat, xoxo-hugs, eyJ.a.b, secret_sauce, dapi, Bearer of news",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "sha512-1Uf2vkzqBN6g8/9tt7qD7LXGE3k9RtVvGK1fNVw==, apr_0123456789abcdef0123456789abcdef",
  ])("are not seen in %s", (text) => {
    expect(redactSecrets(text)).toBe(text);
  });

  it("are hidden when a cut would halve them", () => {
    const { text } = SECRET_SAMPLES[0] ?? { text: "" };
    for (let before = 0; before <= text.length + 2; before += 1) {
      const shown = redactedStart(`${"x".repeat(100 - before)} ${text} end`, 100);
      expect(shown).not.toMatch(/ergon_\w/);
    }
    expect(redactedStart("x".repeat(100), 100)).toBe("x".repeat(100));
    expect(redactedStart("x".repeat(101), 100)).toBe(`${"x".repeat(100)}… (101 characters)`);
  });

  it("are hidden as names of fields, too, and no field is lost", () => {
    const [one, two] = ["a", "b"].map((letter) => `ghp_${letter.repeat(36)}`) as [string, string];
    const shown = redactJson({ inner: { [two]: 2 }, [one]: 1, plain: 4 });
    expect(JSON.stringify(shown)).not.toContain(one);
    expect(JSON.stringify(shown)).not.toContain(two);
    expect(Object.keys(redactJson({ [one]: 1, [two]: 2 }))).toEqual(["[redacted] (field 1)", "[redacted] (field 2)"]);
    expect(shown).toMatchObject({ plain: 4 });
  });

  it("are hidden at any depth of a value, and the rest stays", () => {
    const deep = JSON.parse('{"a":[1,null,{"b":"Bearer canary-canary"}],"__proto__":{"c":true}}') as unknown;
    expect(JSON.stringify(redactJson(deep))).toBe('{"a":[1,null,{"b":"[redacted]"}],"__proto__":{"c":true}}');
  });

  it.each([
    "ghp_",
    "-----BEGIN PRIVATE KEY-----",
    "://a@",
    `${"eyJa".repeat(20)}.`,
    "eyJ",
    "sk-",
    "?key=",
    "api_key ",
    "key\\",
  ])("are looked for in time that grows with the text alone: %s", (part) => {
    const startedMs = performance.now();
    redactSecrets(part.repeat(Math.ceil(1_000_000 / part.length)));
    expect(performance.now() - startedMs).toBeLessThan(WORST_MS);
  });
});
