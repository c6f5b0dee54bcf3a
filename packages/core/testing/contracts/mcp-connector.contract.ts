import { afterEach, describe, expect, it } from "vitest";
import type { ConnectionReport, McpConnection, McpConnector } from "../../src/ports/mcp-connector.ts";
import type { MCPServerConfig } from "../../src/schema/hub.ts";

/** Servers to try a connector with. Each has the tools `echo`, `crash` (ends the server) and `silent` (never answers). */
export type TriedServers = {
  readonly fine: MCPServerConfig;
  /** Ends at its start and prints `secret`. */
  readonly failing: MCPServerConfig;
  readonly secret: string;
};

/** What every McpConnector must do. */
export function mcpConnectorContract(name: string, open: () => McpConnector, servers: TriedServers): void {
  const opened: McpConnection[] = [];
  const started = (config: MCPServerConfig): { connection: McpConnection; told: ConnectionReport[] } => {
    const told: ConnectionReport[] = [];
    const onChange = (report: ConnectionReport) => void told.push(report);
    const connection = open().open({ config, secrets: [servers.secret], onChange });
    opened.push(connection);
    connection.start();
    return { connection, told };
  };

  describe(`the MCP connector contract: ${name}`, { timeout: 60_000 }, () => {
    afterEach(async () => {
      for (const connection of opened.splice(0)) await connection.stop();
    });

    it("returns from start at once and tells of what comes of it (M1)", async () => {
      const { connection, told } = started(servers.fine);
      expect(["configured", "starting"]).toContain(connection.report().state);
      await connection.settled();
      expect(connection.report().state).toBe("ready");
      expect(connection.report().tools.map((tool) => tool.name)).toEqual(
        expect.arrayContaining(["crash", "echo", "silent"]),
      );
      expect(told.at(-1)?.state).toBe("ready");
    });

    it("says of a server that fails why, without its secrets, and when it is tried again (M2)", async () => {
      const { connection, told } = started(servers.failing);
      await connection.settled();
      expect(connection.report()).toMatchObject({ state: "down", nextTryAt: expect.any(String) });
      expect(connection.report().errors).not.toEqual([]);
      expect(JSON.stringify([connection.report(), told])).not.toContain(servers.secret);
    });

    it("answers for resources and prompts, and fails as a call does when the server is down (M4)", async () => {
      const { connection } = started(servers.fine);
      await connection.settled();
      expect(await connection.ask({ kind: "prompts" })).toEqual({ prompts: [] });
      expect(await connection.ask({ kind: "resources" })).toEqual({ resources: [], resourceTemplates: [] });
      const { connection: down } = started(servers.failing);
      await down.settled();
      await expect(down.ask({ kind: "prompts" })).rejects.toMatchObject({ code: "server_down" });
    });

    it("never brings back what was stopped (M2)", async () => {
      const { connection } = started(servers.failing);
      await connection.settled();
      await connection.stop();
      connection.wake();
      expect(connection.report().state).toBe("configured");
    });

    it("keeps the tools of a server that fell, and finds it again (M2, M3)", async () => {
      const { connection } = started(servers.fine);
      await connection.settled();
      await expect(connection.call({ name: "crash", args: {} })).rejects.toMatchObject({ code: "answer_lost" });
      expect(connection.report().tools).not.toEqual([]);
      await connection.settled();
      expect(await connection.call({ name: "echo", args: { a: 1 } })).toMatchObject({ isError: false });
    });

    it("tells calls apart that were not sent, were lost and were refused (M4)", async () => {
      const down = started(servers.failing).connection;
      await down.settled();
      await expect(down.call({ name: "echo", args: {} })).rejects.toMatchObject({
        code: "server_down",
        retryable: true,
      });
      const { connection } = started(servers.fine);
      await connection.settled();
      const lost = connection.call({ name: "silent", args: {}, timeoutMs: 100 });
      await expect(lost).rejects.toMatchObject({ code: "answer_lost" });
      await expect(connection.call({ name: "refused", args: {} })).rejects.toMatchObject({ code: "server_refused" });
    });
  });
}
