import { describe, expect, it } from "vitest";
import { createHostCheck } from "./allowed-hosts.ts";

describe("the host check", () => {
  it.each([
    ["localhost", []],
    ["LOCALHOST:8000", []],
    ["127.0.0.1:1", []],
    ["[::1]:8000", []],
    ["[::1]", []],
    ["ergon.example", ["ergon.example"]],
    ["ergon.example:8443", ["Ergon.Example"]],
    ["ergon.example:8443", ["ergon.example:8443"]],
    ["a.b.example", ["*.example"]],
    ["anything.at.all:1", ["*"]],
  ] as const)("answers to %s with %j allowed", (host, allowed) => {
    expect(() => createHostCheck(allowed).check({ host })).not.toThrow();
  });

  it.each([
    [undefined, []],
    ["", []],
    ["evil.example", []],
    ["localhost.evil.example", []],
    ["evil-localhost", []],
    ["127.0.0.1.evil.example", []],
    ["localhost:8000:9000", []],
    ["localhost:x", []],
    ["user@localhost", []],
    ["localhost/", []],
    ["localhost, evil.example", []],
    ["[::1", []],
    ["::1", []],
    ["0.0.0.0", []],
    ["example", ["*.example"]],
    ["badexample", ["*.example"]],
    ["ergon.example:1", ["ergon.example:2"]],
    ["a b", ["*"]],
  ] as const)("does not answer to %s with %j allowed", (host, allowed) => {
    expect(() => createHostCheck(allowed).check({ host })).toThrow(
      expect.objectContaining({ code: "host_denied" }) as Error,
    );
  });

  it.each([
    ["http://localhost:8000", []],
    ["https://LocalHost:8000", []],
    ["http://ui.example", ["ui.example"]],
    ["https://ui.example:3000", ["ui.example:3000"]],
  ] as const)("lets pages of %s ask, with %j allowed", (origin, allowed) => {
    expect(() => createHostCheck(allowed).check({ host: "localhost:8000", origin })).not.toThrow();
  });

  it.each([
    "null",
    "",
    "http://localhost",
    "http://localhost:3000",
    "http://127.0.0.1:8000",
    "http://evil.example",
    "file://localhost:8000",
    "http://localhost:8000/",
    "http://evil@localhost:8000",
    "chrome-extension://abc",
  ])("lets no page of %j ask", (origin) => {
    const { check } = createHostCheck([]);
    expect(() => check({ host: "localhost:8000", origin })).toThrow(
      expect.objectContaining({ code: "origin_denied" }) as Error,
    );
  });

  it("answers to an address that it listens on", () => {
    const { check, addAddress } = createHostCheck([]);
    expect(() => check({ host: "192.168.7.7:80" })).toThrow("not answered");
    addAddress("192.168.7.7");
    expect(() => check({ host: "192.168.7.7:80" })).not.toThrow();
    expect(() => check({ host: "192.168.7.8:80" })).toThrow("not answered");
  });

  it("keeps few strangers in mind", () => {
    const { check } = createHostCheck([]);
    for (let index = 0; index < 3_000; index += 1) expect(() => check({ host: `h${index}` })).toThrow("not answered");
    expect(() => check({ host: "localhost" })).not.toThrow();
  });
});
