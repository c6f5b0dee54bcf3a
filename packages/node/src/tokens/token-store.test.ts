import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystemClock } from "@ergon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FIRST_PRINCIPAL, type Principal } from "./principal.ts";
import { hashSecret, newSecret } from "./secret.ts";
import { MAX_TOKENS, openTokenStore, type TokenStore } from "./token-store.ts";

const first = "first-token-first-token-first-token";
const local = "local-token-local-token-local-token";

describe("the token book", () => {
  let folder: string;
  let book: TokenStore;
  let admin: Principal;
  const open = () =>
    openTokenStore({ dataFolder: folder, firstToken: first, localToken: local, clock: createSystemClock() });
  const file = () => join(folder, "tokens.json");
  const principal = (secret: string): Principal => {
    const found = book.find(secret);
    if (found === undefined) throw new Error("nobody has this token");
    return found;
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "ergon-tokens-"));
    book = await open();
    admin = principal(first);
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it("knows the first token and that of this folder's processes, and nobody else", () => {
    expect(admin).toMatchObject({ name: FIRST_PRINCIPAL, scope: "person", admin: true, local: false });
    expect(book.find(local)).toMatchObject({ name: FIRST_PRINCIPAL, admin: true, local: true });
    for (const wrong of ["", first.slice(1), `${first} `, first.toUpperCase(), newSecret()]) {
      expect(book.find(wrong)).toBeUndefined();
    }
  });

  it("gives a token once, keeps only its hash, and knows it after a restart", async () => {
    const { token, info } = await book.add({ name: "ci", scope: "agent", by: admin });
    expect(info).toMatchObject({ name: "ci", scope: "agent", createdBy: FIRST_PRINCIPAL });
    const kept = readFileSync(file(), "utf8");
    expect(kept).not.toContain(token);
    expect(kept).toContain(hashSecret(token).toString("hex"));
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["tokens.json"]);
    book = await open();
    expect(book.find(token)).toMatchObject({ name: "ci", scope: "agent", admin: false, local: false });
    expect(book.list(admin)).toEqual([info]);
  });

  it("revokes at once and for good, and tells whoever still listens", async () => {
    const { token } = await book.add({ name: "ci", scope: "agent", by: admin });
    const { revoked } = principal(token);
    await book.revoke("ci", admin);
    expect(revoked.aborted).toBe(true);
    expect(book.find(token)).toBeUndefined();
    book = await open();
    expect(book.find(token)).toBeUndefined();
    expect(book.list(admin)).toEqual([]);
    await expect(book.revoke("ci", admin)).rejects.toMatchObject({ code: "token_not_found" });
  });

  it("lets a person change only what that person made", async () => {
    const ann = principal((await book.add({ name: "ann", scope: "person", by: admin })).token);
    await book.add({ name: "ci", scope: "agent", by: admin });
    await book.add({ name: "bot", scope: "agent", by: ann });
    expect(book.list(ann).map(({ name }) => name)).toEqual(["bot"]);
    expect(book.list(admin).map(({ name }) => name)).toEqual(["ann", "ci", "bot"]);
    await expect(book.revoke("ci", ann)).rejects.toMatchObject({ code: "token_not_found" });
    await book.revoke("bot", ann);
  });

  it("never gives a name to another than its maker, also after it was revoked (T1)", async () => {
    const ann = principal((await book.add({ name: "ann", scope: "person", by: admin })).token);
    await book.add({ name: "bot", scope: "agent", by: admin });
    for (const name of ["bot", "BOT", FIRST_PRINCIPAL, "Admin"]) {
      await expect(book.add({ name, scope: "agent", by: ann })).rejects.toMatchObject({ code: "token_exists" });
    }
    await book.revoke("bot", admin);
    await expect(book.add({ name: "Bot", scope: "agent", by: ann })).rejects.toMatchObject({ code: "token_exists" });
    const { token, info } = await book.add({ name: "Bot", scope: "person", by: admin });
    expect(info.name).toBe("bot");
    expect(principal(token)).toMatchObject({ name: "bot", scope: "person" });
  });

  it.each(["", "-x", "a b", "x".repeat(65), "stdio:1", "ä", "a/b"])("refuses the name %j", async (name) => {
    await expect(book.add({ name, scope: "agent", by: admin })).rejects.toMatchObject({ code: "input_invalid" });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("gives all that are asked for at once", async () => {
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, index) => book.add({ name: `n${index}`, scope: "agent", by: admin })),
    );
    book = await open();
    expect(made.map(({ token }) => book.find(token)?.name)).toEqual(made.map((_, index) => `n${index}`));
  });

  it("gives the last name of its bound, and none beyond, revoked ones counted", async () => {
    const row = { scope: "agent", createdAt: "x", createdBy: "admin", revokedAt: "y" };
    const hash = (index: number) => index.toString(16).padStart(64, "0");
    const tokens = Array.from({ length: MAX_TOKENS - 1 }, (_, index) => ({
      ...row,
      name: `n${index}`,
      hash: hash(index),
    }));
    writeFileSync(file(), JSON.stringify({ version: 1, tokens }));
    book = await open();
    await book.add({ name: "last", scope: "agent", by: admin });
    await expect(book.add({ name: "more", scope: "agent", by: admin })).rejects.toMatchObject({ code: "token_limit" });
    await book.add({ name: "n7", scope: "agent", by: admin });
  });

  it("does not go on without its names when the file is broken", async () => {
    writeFileSync(file(), '{"version":1,"tokens":[{}]}');
    await expect(open()).rejects.toMatchObject({ code: "token_unusable" });
  });

  it("changes nothing when it cannot write", async () => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "");
    await expect(book.add({ name: "ci", scope: "agent", by: admin })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect(book.list(admin)).toEqual([]);
    rmSync(folder);
    await book.add({ name: "ci", scope: "agent", by: admin });
    expect(book.list(admin)).toHaveLength(1);
  });
});
