import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { DOORS, ergon, plainEnvironment, temporaryFolder } from "./ergon.ts";

const Entry = z.object({ command: z.string(), args: z.array(z.string()), env: z.record(z.string(), z.string()) });

describe("ergon mcp install", { timeout: 60_000 }, () => {
  let folder: ReturnType<typeof temporaryFolder>;
  const run = (...args: string[]) =>
    ergon(["mcp", "install", "--data", "data", ...args], { cwd: folder.path, env: { HOME: folder.path } });
  const read = (file: string) => readFileSync(join(folder.path, file), "utf8");

  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());

  it.each([
    ["cursor", ".cursor/mcp.json", "mcpServers"],
    ["claude-code", ".claude.json", "mcpServers"],
    ["vscode", ".vscode/mcp.json", "servers"],
  ])("writes an entry for %s that starts Ergon from anywhere", async (client, file, key) => {
    expect(await run("--client", client)).toMatchObject({ code: 0 });
    const config = z.record(z.string(), z.object({ ergon: Entry })).parse(JSON.parse(read(file)));
    const { command, args, env } = Entry.parse(config[key]?.ergon);
    expect(env["XDG_STATE_HOME"], "it finds a running server's token").toBe(process.env["XDG_STATE_HOME"]);
    const transport = new StdioClientTransport({ command, args, cwd: "/", env: { HOME: folder.path, ...env } });
    const connection = new Client({ name: "test", version: "1" });
    await connection.connect(transport);
    expect((await connection.listTools()).tools.map(({ name }) => name)).toContain("decide_loop_next_action");
    await connection.close();
    expect(existsSync(join(folder.path, `${file}.before-ergon`))).toBe(false);
  });

  it("leaves everything else as it is, keeps a copy, and does nothing the second time", async () => {
    const theirs = { theme: "dark", mcpServers: { other: { command: "x" } } };
    folder.write({ ".cursor/mcp.json": JSON.stringify(theirs) });
    expect(JSON.parse((await run("--client", "cursor", "--json")).out)).toMatchObject({ changed: true });
    const after = read(".cursor/mcp.json");
    expect(JSON.parse(after)).toMatchObject({ ...theirs, mcpServers: { ...theirs.mcpServers, ergon: {} } });
    expect(JSON.parse(read(".cursor/mcp.json.before-ergon"))).toEqual(theirs);
    expect(JSON.parse((await run("--client", "cursor", "--json")).out)).toMatchObject({ changed: false });
    expect(read(".cursor/mcp.json")).toBe(after);
    expect(JSON.parse(read(".cursor/mcp.json.before-ergon"))).toEqual(theirs);
  });

  it("shows the entry without writing it", async () => {
    const printed = await run("--client", "claude", "--print");
    expect(JSON.parse(printed.out)).toMatchObject({
      mcpServers: { ergon: { args: expect.arrayContaining(["mcp"]) as unknown } },
    });
    expect(existsSync(join(folder.path, ".config"))).toBe(false);
  });

  it("lets the client approve only where --may-approve says so", async () => {
    const args = async (...flags: string[]) => {
      const { out } = await run("--client", "cursor", "--json", ...flags);
      return z.object({ entry: Entry }).parse(JSON.parse(out)).entry.args;
    };
    expect(await args()).not.toContain("--may-approve");
    expect(await args("--may-approve")).toContain("--may-approve");
  });

  it.skipIf(process.platform !== "linux").each([
    ["y", true],
    ["", false],
  ])("asks on a terminal whether the client may approve; %j is %s", async (typed, expected) => {
    const command = [process.execPath, DOORS.built, "mcp", "install", "--client", "cursor", "--data", "data"];
    const child = spawn("script", ["-qec", command.join(" "), "/dev/null"], {
      cwd: folder.path,
      env: { ...plainEnvironment(), HOME: folder.path },
    });
    let shown = "";
    child.stdout.on("data", (chunk: Buffer) => {
      if (shown.includes("[y/N]")) return;
      shown += chunk.toString();
      if (shown.includes("[y/N]")) child.stdin.write(`${typed}\r`);
    });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(shown).toContain("answer forms without you");
    const { mcpServers } = z
      .object({ mcpServers: z.object({ ergon: Entry }) })
      .parse(JSON.parse(read(".cursor/mcp.json")));
    expect(mcpServers.ergon.args.includes("--may-approve")).toBe(expected);
  });

  it.each(["// mine\n{}", "[]", '{"mcpServers":7}', "{"])(
    "leaves a file alone that it cannot read: %s",
    async (text) => {
      folder.write({ ".cursor/mcp.json": text });
      expect(await run("--client", "cursor")).toMatchObject({
        code: 2,
        err: expect.stringContaining("--print") as unknown,
      });
      expect(read(".cursor/mcp.json")).toBe(text);
    },
  );

  it("names the clients that it knows", async () => {
    expect(await run()).toMatchObject({ code: 2, err: expect.stringContaining("claude-code") as unknown });
    expect(await run("--client", "cursr")).toMatchObject({
      code: 2,
      err: expect.stringContaining('"cursor"') as unknown,
    });
  });
});
