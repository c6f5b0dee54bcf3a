import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loginStoreContract } from "@ergon/core/testing/contracts";
import { afterAll, describe, expect, it } from "vitest";
import { MAX_LOGIN_BYTES, openFileLoginStore } from "./file-login-store.ts";

const root = mkdtempSync(join(tmpdir(), "ergon-logins-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let count = 0;
const folder = () => join(root, String((count += 1)));
const place = { serverId: "notes", url: "https://notes.example/mcp" };

loginStoreContract("in files", () => {
  const at = folder();
  return { logins: openFileLoginStore(at), reopen: () => openFileLoginStore(at) };
});

describe("logins in files", () => {
  it("are read by nobody else, and leave nothing half written", async () => {
    const at = folder();
    const logins = openFileLoginStore(at);
    await Promise.all([1, 2, 3].map((n) => logins.write(place, { wantedScope: String(n) })));
    const files = readdirSync(join(at, "logins"));
    expect(files).toHaveLength(1);
    expect(statSync(join(at, "logins")).mode & 0o777).toBe(0o700);
    expect(statSync(join(at, "logins", files[0] ?? "")).mode & 0o777).toBe(0o600);
  });

  it.each(["{", '{"tokens":{}}', "x".repeat(MAX_LOGIN_BYTES + 1)])(
    "that cannot be read are refused by name, not taken for none (L3)",
    async (text) => {
      const at = folder();
      const logins = openFileLoginStore(at);
      await logins.write(place, {});
      const [file = ""] = readdirSync(join(at, "logins"));
      writeFileSync(join(at, "logins", file), text);
      await expect(logins.read(place)).rejects.toMatchObject({
        code: "login_unreadable",
        message: expect.stringContaining(file),
      });
      expect(await logins.remove(place)).toBe(true);
    },
  );

  it.each([
    [MAX_LOGIN_BYTES, true],
    [MAX_LOGIN_BYTES + 1, false],
  ])("of %i bytes are kept: %s", async (bytes, isKept) => {
    const logins = openFileLoginStore(folder());
    const login = { wantedScope: "x".repeat(bytes - '{"wantedScope":""}'.length) };
    const writing = logins.write(place, login);
    if (isKept) await expect(writing).resolves.toBeUndefined();
    else await expect(writing).rejects.toMatchObject({ code: "login_failed" });
  });
});
