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

  it.each([
    "http://127.0.0.1:8000/approvals",
    "https://127.0.0.1/",
    "http://localhost:8000/",
    "https://a.localhost/",
    "https://0.0.0.0/",
    "https://10.1.2.3/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[fd00::1]/",
    "https://printer.local/",
  ])("is refused to a server that runs elsewhere: %s", (address) => {
    expect(() => checkWebAddress(address, "notes", "mcp.example")).toThrow(/leads to this machine or its network/);
    expect(checkWebAddress(address, "notes", new URL(address).hostname).href).toBe(new URL(address).href);
  });

  it.each(["https://login.example/", "https://100.64.0.1.example/", "https://10.example/"])(
    "is shown for a server that runs elsewhere: %s",
    (address) => expect(checkWebAddress(address, "notes", "mcp.example").href).toBe(address),
  );

  it("has what a shell would run turned into text", () => {
    const url = checkWebAddress('https://login.example/"$(touch /tmp/x)"`id`', "notes");
    expect(url.href).not.toMatch(/["`\s]/);
  });
});
