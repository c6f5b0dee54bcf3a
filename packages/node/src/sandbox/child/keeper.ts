/*
 * The first of the two isolates of a Deno runtime. It holds what the code must not: the channel to the service, the
 * token that marks its lines, the watch over memory. The code runs in the second isolate (`realm.ts`), which has no
 * permission at all.
 *
 * Q1  A line that begins with the token was written here: the token never enters the realm.
 * Q2  The end of stdin is the end of the service, and so of this process.
 */
import type { BootOrder, ExecuteOrder, KeeperLine, RealmBoot, RealmOutcome } from "./protocol.ts";
import { Deno, type DenoWorker, MessageChannel, WebAssembly, Worker } from "./deno-types.ts";

const MEMORY_POLL_MS = 20;
const PART_CHARS = 512 * 1024;

const orders = linesOf(Deno.stdin.readable);
const boot = (await nextOrder()) as BootOrder;
const { port1: port, port2: realmPort } = new MessageChannel();
const realm: DenoWorker = new Worker(await asBlob(boot.realm), { type: "module", deno: { permissions: "none" } });
realm.addEventListener("error", (event) => {
  event.preventDefault();
  finish({ ok: false, error: event.message });
});
await start();
say({ kind: "ready" });
const idleBytes = Deno.memoryUsage().rss;
const order = (await nextOrder()) as ExecuteOrder;
watchMemory(order.memoryBytes + idleBytes);
port.addEventListener("message", ({ data }) => finish(data as RealmOutcome));
port.postMessage(order);
await nextOrder();

/** The address of a copy of this module and of those that it imports: it tells the code nothing of the machine's folders. */
async function asBlob(address: string): Promise<string> {
  let source = await Deno.readTextFile(new URL(address));
  for (const [, specifier = ""] of source.matchAll(/ from "(\.\/[^"]+)"/g)) {
    source = source.replace(`"${specifier}"`, JSON.stringify(await asBlob(new URL(specifier, address).href)));
  }
  const type = address.endsWith(".ts") ? "application/typescript" : "text/javascript";
  return URL.createObjectURL(new Blob([source], { type }));
}

async function start(): Promise<void> {
  const [message, transfer] = await realmBoot();
  const started = new Promise<RealmOutcome>((resolve) => {
    port.addEventListener("message", ({ data }) => resolve(data as RealmOutcome), { once: true });
  });
  port.start();
  realm.postMessage(message, transfer);
  const outcome = await started;
  if (!outcome.ok) finish(outcome);
  else if (boot.makeSnapshot === true) sendSnapshot(outcome.json);
}

async function realmBoot(): Promise<[RealmBoot, object[]]> {
  if (boot.python === undefined) return [{ port: realmPort }, [realmPort]];
  const { pyodide, runCode, snapshot } = boot.python;
  const [wasm, stdlib, loader, glue, lock, run, memory] = await Promise.all([
    Deno.readFile(`${pyodide}/pyodide.asm.wasm`).then((bytes) => WebAssembly.compile(bytes)),
    Deno.readFile(`${pyodide}/python_stdlib.zip`),
    Deno.readTextFile(`${pyodide}/pyodide.mjs`),
    Deno.readTextFile(`${pyodide}/pyodide.asm.mjs`),
    Deno.readTextFile(`${pyodide}/pyodide-lock.json`),
    Deno.readTextFile(runCode),
    snapshot === undefined ? undefined : Deno.readFile(snapshot),
  ]);
  const python = { wasm, stdlib, loader, glue, lock, run, ...(memory === undefined ? {} : { memory }) };
  return [{ port: realmPort, python }, [realmPort, stdlib.buffer, ...(memory === undefined ? [] : [memory.buffer])]];
}

/** From base64 text that the realm made before any code was there. */
function sendSnapshot(text: string): void {
  for (let at = 0; at < text.length; at += PART_CHARS) {
    say({ kind: "snapshot", part: text.slice(at, at + PART_CHARS) });
  }
}

function watchMemory(limit: number): void {
  setInterval(() => {
    if (Deno.memoryUsage().rss <= limit) return;
    say({ kind: "memory" });
    Deno.exit(1);
  }, MEMORY_POLL_MS);
}

function finish(outcome: RealmOutcome): void {
  realm.terminate();
  const said: KeeperLine = outcome.ok
    ? { kind: "done", json: String(outcome.json) }
    : { kind: "failed", error: String(outcome.error).slice(0, PART_CHARS) };
  write(Deno.stderr, `${boot.token}\n`);
  say(said);
  Deno.exit(0);
}

function say(line: KeeperLine): void {
  write(Deno.stdout, `${boot.token}${JSON.stringify(line)}\n`);
}

function write(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += stream.writeSync(bytes.subarray(at));
}

async function nextOrder(): Promise<unknown> {
  const { value, done } = await orders.next();
  if (done === true) Deno.exit(0);
  return JSON.parse(value);
}

async function* linesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<string, never> {
  const decoder = new TextDecoder();
  let open: string[] = [];
  for await (const chunk of source) {
    const [first = "", ...more] = decoder.decode(chunk, { stream: true }).split("\n");
    open.push(first);
    for (const next of more) {
      yield open.join("");
      open = [next];
    }
  }
  return Deno.exit(0);
}
