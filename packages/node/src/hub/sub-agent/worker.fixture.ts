import { silentLogger } from "@ergon/core";
import { runSubAgentWorker } from "./run-worker.ts";

const [dataFolder = "", registryUrl = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit(0));
runSubAgentWorker({
  dataFolder,
  registryUrl,
  logger: silentLogger,
  own: [dataFolder],
  channel: { on: process.on.bind(process), send: process.send?.bind(process) },
});
