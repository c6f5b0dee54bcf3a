import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ToolId } from "../schema/tool.ts";
import { hubToolName, MAX_HUB_TOOL_NAME, MAX_SERVER_PART, nameTools, refuseSharedPart, serverPart } from "./names.ts";

describe("names of servers' tools", () => {
  it.each([
    ["filesystem", "filesystem"],
    ["Brave Search", "brave-search"],
    ["my_server", "my-server"],
    ["@acme/files", "acme-files"],
  ])("names the tools of %j %s_…", (serverName, part) => {
    expect(serverPart(serverName)).toBe(part);
  });

  it.each(["mcp", "Plan", "", "___", "ąę"])("refuses a server that is named %j", (serverName) => {
    expect(() => serverPart(serverName)).toThrow(expect.objectContaining({ code: "server_name_invalid" }));
  });

  it("splits at the first underscore, whatever server and tool are called (N1)", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.string({ minLength: 1, maxLength: 80 }), (serverName, toolName) => {
        let part: string;
        try {
          part = serverPart(serverName);
        } catch {
          return;
        }
        const name = hubToolName(part, toolName);
        expect(name.slice(0, name.indexOf("_"))).toBe(part);
        expect(name.length).toBeLessThanOrEqual(MAX_HUB_TOOL_NAME);
        expect(ToolId.safeParse(name).success).toBe(true);
      }),
    );
  });

  it("keeps a name of exactly 64 characters and shortens one of 65 by a hash of the whole", () => {
    const fits = "t".repeat(MAX_HUB_TOOL_NAME - "files_".length);
    expect(hubToolName("files", fits)).toBe(`files_${fits}`);
    const long = hubToolName("files", `${fits}t`);
    expect(long).toHaveLength(MAX_HUB_TOOL_NAME);
    expect(long).not.toBe(hubToolName("files", `${fits}u`));
  });

  it("shortens a server's part at its limit", () => {
    expect(serverPart("s".repeat(MAX_SERVER_PART))).toBe("s".repeat(MAX_SERVER_PART));
    expect(serverPart("s".repeat(MAX_SERVER_PART + 1))).toHaveLength(MAX_SERVER_PART);
  });

  it("gives a name that two tools would have to neither, and names both (N3)", () => {
    const tools = [{ name: "read.file" }, { name: "read file" }, { name: "write" }];
    const { named, collisions } = nameTools("files", tools);
    expect([...named.keys()]).toEqual(["files_write"]);
    expect(collisions).toEqual([{ name: "files_read-file", toolNames: ["read.file", "read file"] }]);
  });

  it("refuses a second server whose tools would be named like another's", () => {
    expect(() => refuseSharedPart("Brave Search", ["brave-search"])).toThrow(
      expect.objectContaining({ code: "server_duplicate", message: expect.stringContaining('"brave-search"') }),
    );
    expect(() => refuseSharedPart("brave", ["brave-search"])).not.toThrow();
  });
});
