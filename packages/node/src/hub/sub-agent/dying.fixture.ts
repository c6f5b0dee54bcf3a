// Leads one request, and is killed in the very moment that it is told: between what others can see of a request and what is
// written down of it.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSystemClock, silentLogger } from "@ergon/core";
import type { MCPServerConfig } from "@ergon/core/hub";
import { openSubAgentRequests } from "./requests.ts";
import { openSubAgent } from "./sub-agent.ts";
import { createSubAgentWorker } from "./worker-process.ts";

const [folder = "", registryUrl = "", requestId = "", serverName = "", moment = ""] = process.argv.slice(2);
const configFile = join(folder, "config.json");
const servers = (): MCPServerConfig[] =>
  existsSync(configFile) ? (JSON.parse(readFileSync(configFile, "utf8")) as MCPServerConfig[]) : [];
const dieIf = (now: string): void => void (now === moment && process.kill(process.pid, "SIGKILL"));
const never = (): never => {
  throw new Error("This is never asked here.");
};

const agent = await openSubAgent({
  requests: openSubAgentRequests({ path: join(folder, "subagent.db") }),
  worker: createSubAgentWorker({
    command: [process.execPath, join(import.meta.dirname, "worker.fixture.ts"), folder, registryUrl],
    env: process.env as Record<string, string>,
    logger: silentLogger,
  }),
  clock: createSystemClock(),
  logger: silentLogger,
  owner: "loop",
  desk: {
    list: async () => servers(),
    add: async (server) => {
      writeFileSync(configFile, JSON.stringify([...servers(), server]));
      dieIf("added");
    },
    askToEnable: async () => {
      dieIf("asked");
      return "apr_1";
    },
    isOwn: () => true,
    environment: () => [],
    resolve: never,
    remove: never,
    change: never,
    withdraw: never,
    answerTo: never,
  },
});
agent.start();
await agent.sendRequest({
  id: requestId,
  type: "add_server",
  params: { serverName },
  timestamp: new Date().toISOString(),
  priority: "low",
});
