import { describe, expect, it } from "vitest";
import { createServerLog, lastWords, MAX_HELD_LINE_CHARS, MAX_LOG_LINE_CHARS, MAX_LOG_LINES } from "./server-log.ts";

describe("what a server printed", () => {
  it("is kept line by line, however it came, the last line too that has no end yet", () => {
    const log = createServerLog();
    log.add("one\ntw");
    log.add("o\n\nthr");
    log.add("ee");
    expect(log.lines()).toEqual(["one", "two", "three"]);
  });

  it("is kept up to its bounds, the newest of it", () => {
    const log = createServerLog();
    for (let line = 0; line <= MAX_LOG_LINES; line += 1) log.add(`${String(line)}\n`);
    expect(log.lines()).toHaveLength(MAX_LOG_LINES);
    expect(log.lines()[0]).toBe("1");
    log.add("x".repeat(MAX_LOG_LINE_CHARS));
    log.add("y\n");
    expect(log.lines().at(-1)).toBe("x".repeat(MAX_LOG_LINE_CHARS));
  });

  it("is kept without what must not be shown", () => {
    const log = createServerLog((text) => text.replaceAll("key", "[hidden]"));
    log.add("the key is k\nkey");
    expect(log.lines()).toEqual(["the [hidden] is k", "[hidden]"]);
  });

  it("is cut after that: a secret that reaches beyond the cut shows no part of itself", () => {
    const log = createServerLog((text) => text.replaceAll("canary", "[hidden]"));
    const before = "x".repeat(MAX_LOG_LINE_CHARS - 3);
    log.add(`${before}canary`);
    expect(log.lines()).toEqual([`${before}[hi`]);
    log.add(" and more\n");
    expect(log.lines()).toEqual([`${before}[hi`]);
  });

  it("shows nothing of the end of what it held of a longer line: a secret may begin there", () => {
    const secret = "canary".repeat(1_000);
    const log = createServerLog((text) => text.replaceAll(secret, "[hidden]"));
    log.add(secret.repeat(10));
    expect(log.lines()).toEqual([""]);
    log.add(`\n${"x".repeat(MAX_HELD_LINE_CHARS - 1)}\n${"x".repeat(MAX_HELD_LINE_CHARS)}\n`);
    expect(log.lines().slice(1)).toEqual(Array.from({ length: 2 }, () => "x".repeat(MAX_LOG_LINE_CHARS)));
  });
});

describe("what a program said last", () => {
  it.each([
    [["one", "two"], "two"],
    [
      ["/x.js:1", "throw new Error('no key')", "^", "Error: no key", "    at x.js:1:7", "Node.js v20.20.2"],
      "Error: no key",
    ],
    [["TypeError [ERR_X]: odd", "    at x.js", "  code: 'ERR_X'", "}", "Node.js v24.1.0"], "TypeError [ERR_X]: odd"],
    [["no reason", "Node.js v24.1.0"], "Node.js v24.1.0"],
    [[], undefined],
  ])("of %j is the error, not the version of Node that follows it", (lines, said) => {
    expect(lastWords(lines)).toBe(said);
  });
});
