// A process of its own: how much heavier it becomes by 20 servers with 1,000 tools, or how long a server takes to be there.
import { join } from "node:path";
import { createSystemClock, silentLogger, ToolRegistry } from "@ergon/core";
import { MCPClientManager } from "@ergon/core/spec";
import { createMcpConnector } from "@ergon/node";

const file = join(import.meta.dirname, "hub.server.ts");
const server = (id: string, ...args: readonly string[]) => ({
  id,
  name: id,
  command: process.execPath,
  args: [file, ...args],
  enabled: true,
});

const [what] = process.argv.slice(2);
const clock = createSystemClock();
const registry = new ToolRegistry();
const connector = createMcpConnector({ logger: silentLogger });
const manager = new MCPClientManager({ connector, registry, clock, logger: silentLogger });

if (what === "weigh") {
  // The SDK and the first server are there before: what counts is what servers add.
  await manager.addServer(server("first", "stdio", "2"));
  const before = heapAfterCollection();
  await manager.initialize(Array.from({ length: 20 }, (_, n) => server(`s${String(n)}`, "stdio", "50")));
  const after = heapAfterCollection();
  console.log(JSON.stringify({ tools: registry.list().length, rssMb: (after - before) / 1024 / 1024 }));
} else {
  const others = what === "hanging" ? [{ ...server("hangs"), args: ["--eval", "setInterval(() => {}, 60_000)"] }] : [];
  const startedMs = clock.monotonic();
  void manager.initialize([...others, server("fine", "stdio", "2")]);
  await new Promise<void>((resolve) => registry.onChange(() => resolve()));
  console.log(JSON.stringify({ readyMs: clock.monotonic() - startedMs }));
}
await manager.close();
process.exit(0);

function heapAfterCollection(): number {
  globalThis.gc?.();
  return process.memoryUsage().rss;
}
