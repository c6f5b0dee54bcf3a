// Starts the server that its argument describes, prints the numbers of its processes, and waits to be killed.
import { createGuard } from "../connection/guard.ts";
import { startServerProcess, type ServerCommand } from "./server-process.ts";

const server = await startServerProcess(JSON.parse(process.argv[2] ?? "") as ServerCommand, createGuard());
server.stdout.once("data", (data) => process.stdout.write(`${JSON.stringify([server.pid, Number(String(data))])}\n`));
setInterval(() => undefined, 60_000);
