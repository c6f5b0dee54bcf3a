import {
  chmodSync,
  existsSync,
  mkdirSync,
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
import { readFirstToken, readKeptToken, readTokenFile, takeOverToken } from "./first-token.ts";

describe("the first token", () => {
  let folder: string;
  let home: string;
  let data: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "ergon-token-"));
    home = join(folder, "state", "folders", "0");
    data = join(folder, "data");
    mkdirSync(data);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("is made once, outside of the data folder, has 256 random bits, and is readable by its owner only", async () => {
    expect(await readKeptToken(home)).toBe(undefined);
    const token = await readFirstToken(home);
    expect(token).toMatch(/^ergon_[\w-]{43}$/);
    expect(Buffer.from(token.slice("ergon_".length), "base64url")).toHaveLength(32);
    expect(statSync(join(home, "token")).mode & 0o777).toBe(0o600);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(await readFirstToken(home)).toBe(token);
    expect(await readKeptToken(home)).toBe(token);
    expect(readdirSync(home)).toEqual(["token"]);
    expect(readdirSync(data)).toEqual([]);
  });

  it("of 0.1.0 is moved out of a data folder that a person trusts, once", async () => {
    const old = join(data, "token");
    writeFileSync(old, `${"t".repeat(32)}\n`);
    await takeOverToken(home, data);
    expect(await readFirstToken(home)).toBe("t".repeat(32));
    expect(existsSync(old)).toBe(false);
    writeFileSync(old, `${"planted".repeat(8)}\n`);
    await takeOverToken(home, data);
    expect(await readFirstToken(home), "a later one is not taken").toBe("t".repeat(32));
  });

  it("is closed to others when they could read it", async () => {
    mkdirSync(home, { recursive: true });
    const path = join(home, "token");
    writeFileSync(path, `${"t".repeat(32)}\n`);
    chmodSync(path, 0o644);
    expect(await readFirstToken(home)).toBe("t".repeat(32));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["empty", ""],
    ["too short", "t".repeat(31)],
    ["two words", `${"t".repeat(20)} ${"t".repeat(20)}`],
    ["too large", "t".repeat(4_097)],
  ])("is not taken from a file that is %s, and says which file", async (_, text) => {
    const path = join(data, "token");
    writeFileSync(path, text);
    await expect(takeOverToken(home, data)).rejects.toMatchObject({ code: "token_unusable" });
    await expect(takeOverToken(home, data)).rejects.toThrow(path);
    await expect(readTokenFile(path)).rejects.toMatchObject({ code: "token_unusable" });
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  it("is not read through a link that somebody put there", async () => {
    writeFileSync(join(folder, "elsewhere"), "t".repeat(40));
    symlinkSync(join(folder, "elsewhere"), join(data, "token"));
    await expect(takeOverToken(home, data)).rejects.toMatchObject({ code: "token_unusable" });
  });

  it("is read from a file that a person names, through links, and the file is left as it is", async () => {
    const secret = join(folder, "secret");
    writeFileSync(secret, `${"s".repeat(40)}\n`, { mode: 0o644 });
    symlinkSync(secret, join(folder, "link"));
    expect(await readTokenFile(join(folder, "link"))).toBe("s".repeat(40));
    expect(statSync(secret).mode & 0o777).toBe(0o644);
    await expect(readTokenFile(join(folder, "nothing"))).rejects.toMatchObject({ code: "token_unusable" });
  });
});
