/*
 * The isolate in which the code runs. It has no permission: whatever the code reaches from here, the runtime refuses.
 * What the code answers leaves through a port that only this module holds, taken before the code could change anything.
 */
import type { ExecuteOrder, RealmBoot, RealmOutcome } from "./protocol.ts";
import { Deno, ownPort } from "./deno-types.ts";
import { javascriptRunner } from "./javascript.ts";
import { pythonRunner } from "./python.ts";

const streams = { stdout: Deno.stdout.writeSync.bind(Deno.stdout), stderr: Deno.stderr.writeSync.bind(Deno.stderr) };
// For good: a `Deno` of the code's own would bring Node's modules to life, and a worker would have a fresh one.
for (const name of ["Deno", "process", "Worker", "close"]) {
  Object.defineProperty(globalThis, name, { value: undefined, writable: false, configurable: false });
}

const { port, python } = await firstMessage();
const send = port.postMessage.bind(port);
try {
  const { run, json } = python === undefined ? javascriptRunner() : await pythonRunner(python, streams);
  port.addEventListener("message", ({ data }) => void execute(run, data as ExecuteOrder));
  port.start();
  send({ ok: true, json } satisfies RealmOutcome);
} catch (thrown) {
  send({ ok: false, error: String(thrown) } satisfies RealmOutcome);
}

async function execute(run: (order: ExecuteOrder) => Promise<RealmOutcome>, order: ExecuteOrder): Promise<void> {
  send(await run(order));
}

function firstMessage(): Promise<RealmBoot> {
  return new Promise((resolve) => {
    ownPort.addEventListener("message", ({ data }) => resolve(data as RealmBoot), { once: true });
  });
}
