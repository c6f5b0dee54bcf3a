import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readFirstToken } from "./first-token.ts";

describe("the first token", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "ergon-token-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("is made once, has 256 random bits, and is readable by its owner only", async () => {
    const data = join(folder, "not", "yet", "there");
    const token = await readFirstToken(data);
    expect(token).toMatch(/^ergon_[\w-]{43}$/);
    expect(Buffer.from(token.slice("ergon_".length), "base64url")).toHaveLength(32);
    expect(statSync(join(data, "token")).mode & 0o777).toBe(0o600);
    expect(statSync(data).mode & 0o777).toBe(0o700);
    expect(await readFirstToken(data)).toBe(token);
    expect(readdirSync(data)).toEqual(["token"]);
  });

  it("is the same for all that start at once", async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => readFirstToken(folder)));
    expect(new Set(tokens)).toHaveLength(1);
    expect(readFileSync(join(folder, "token"), "utf8")).toBe(`${String(tokens[0])}\n`);
    expect(readdirSync(folder)).toEqual(["token"]);
  });

  it("is closed to others when they could read it", async () => {
    const path = join(folder, "token");
    writeFileSync(path, `${"t".repeat(32)}\n`);
    chmodSync(path, 0o644);
    expect(await readFirstToken(folder)).toBe("t".repeat(32));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["empty", ""],
    ["too short", "t".repeat(31)],
    ["two words", `${"t".repeat(20)} ${"t".repeat(20)}`],
    ["too large", "t".repeat(4_097)],
  ])("is not taken from a file that is %s, and says which file", async (_, text) => {
    const path = join(folder, "token");
    writeFileSync(path, text);
    await expect(readFirstToken(folder)).rejects.toMatchObject({ code: "token_unusable" });
    await expect(readFirstToken(folder)).rejects.toThrow(path);
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it("is not read through a link that somebody put there", async () => {
    writeFileSync(join(folder, "elsewhere"), "t".repeat(40));
    symlinkSync(join(folder, "elsewhere"), join(folder, "token"));
    await expect(readFirstToken(folder)).rejects.toMatchObject({ code: "token_unusable" });
  });
});
