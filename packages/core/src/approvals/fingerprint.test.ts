import { describe, expect, it } from "vitest";
import { changesBetween, fingerprintOf, MAX_SHOWN_CHARS } from "./fingerprint.ts";
import type { ToolIdentity } from "../schema/approval.ts";

const identity: ToolIdentity = {
  name: "read_file",
  description: "Reads a file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
  annotations: { readOnlyHint: true },
  server: { command: "node", args: ["server.js"], version: "1.0.0" },
};

describe("a tool's fingerprint", () => {
  it("is the same whatever the order of keys", () => {
    const { server, ...tool } = identity;
    const inputSchema = { properties: { path: { type: "string" } }, type: "object" };
    expect(fingerprintOf({ server, ...tool, inputSchema })).toBe(fingerprintOf(identity));
  });

  const changed: readonly [string, ToolIdentity][] = [
    ["name", { ...identity, name: "read_files" }],
    ["title", { ...identity, title: "Read" }],
    ["description", { ...identity, description: "Reads a file.\u200b" }],
    ["inputSchema", { ...identity, inputSchema: { type: "object" } }],
    ["outputSchema", { ...identity, outputSchema: { type: "object" } }],
    ["annotations", { ...identity, annotations: { readOnlyHint: false } }],
    ["server command", { ...identity, server: { ...identity.server, command: "bash" } }],
    ["server command", { ...identity, server: { ...identity.server, args: ["server.js", "--all"] } }],
    ["server folder", { ...identity, server: { ...identity.server, cwd: "/elsewhere" } }],
    ["server environment", { ...identity, server: { ...identity.server, env: { KEY: "${OTHER}" } } }],
    ["server version", { ...identity, server: { ...identity.server, version: "1.0.1" } }],
  ];
  it.each(changed)("changes with the %s, and the change is named", (field, other) => {
    expect(fingerprintOf(other)).not.toBe(fingerprintOf(identity));
    expect(changesBetween(identity, other).map((change) => change.field)).toEqual([field]);
  });

  it("shows characters that were added to be invisible", () => {
    const [change] = changesBetween(identity, { ...identity, description: "Reads a file.\u200b" });
    expect(change).toEqual({ field: "description", before: "Reads a file.", after: "Reads a file.\\u{200b}" });
  });

  it("cuts what it shows at its limit and says how much is missing", () => {
    const fits = { ...identity, description: "x".repeat(MAX_SHOWN_CHARS) };
    const long = { ...identity, description: "x".repeat(MAX_SHOWN_CHARS + 1) };
    expect(changesBetween(identity, fits)[0]?.after).toHaveLength(MAX_SHOWN_CHARS);
    expect(changesBetween(identity, long)[0]?.after).toContain("(1 more characters)");
  });
});
