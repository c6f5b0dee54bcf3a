import { describe, expect, it } from "vitest";
import { checkWebAddress } from "./web-address.ts";

describe("an address that a server sends people to", () => {
  it.each([
    "https://login.example/authorize?scope=a%20b",
    "http://127.0.0.1:8080/authorize",
    "http://localhost/authorize",
    "http://[::1]:9/authorize",
  ])("is shown: %s", (address) => {
    expect(checkWebAddress(address, "notes").href).toBe(new URL(address).href);
  });

  it.each([
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "http://login.example/authorize",
    "http://127.0.0.1.evil.example/",
    "http://localhost.evil.example/",
    "javascript:alert(1)",
    "data:text/html,x",
    "ms-msdt:/id",
    "smb://host/share",
    "\\\\host\\share",
    "$(touch /tmp/x)",
    "`touch /tmp/x`",
    "; touch /tmp/x",
    "--help",
    "-a Calculator",
    "",
    "https://me:secret@login.example/",
    `https://login.example/${"x".repeat(8_192)}`,
  ])("is refused by name: %s", (address) => {
    expect(() => checkWebAddress(address, "notes")).toThrow(/The server "notes" sends people to an address that/);
  });

  it("has what a shell would run turned into text", () => {
    const url = checkWebAddress('https://login.example/"$(touch /tmp/x)"`id`', "notes");
    expect(url.href).not.toMatch(/["`\s]/);
  });
});
