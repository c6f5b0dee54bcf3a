// What code might try. A probe escapes when it comes to something that is true; what keeps it in may throw, say no, or
// kill it. `inputs` has a file that it should not read, places that it should not write to, and whom it should not reach.
import type { SandboxRequest, SandboxResult } from "@ergon/core/schema";

export type Probe = {
  readonly name: string;
  readonly language: SandboxRequest["language"];
  readonly code: string;
  readonly timeoutMs?: number;
  /** How an abuse has to end; without it, all that counts is that nothing came of it. */
  readonly ends?: readonly SandboxResult["status"][];
};

const SHORT_MS = 2_000;
const PATIENT_MS = 60_000;

const js = (name: string, code: string, more: Partial<Probe> = {}): Probe => ({
  name: `javascript: ${name}`,
  language: "javascript",
  code,
  ...more,
});
const py = (name: string, code: string, more: Partial<Probe> = {}): Probe => ({
  name: `python: ${name}`,
  language: "python",
  code,
  ...more,
});
const endless = { timeoutMs: SHORT_MS, ends: ["timeout", "killed", "error"] } as const;
const greedy = { timeoutMs: PATIENT_MS, ends: ["killed", "error"] } as const;
const forged = { ends: ["error"] } as const;

const JAVASCRIPT: readonly Probe[] = [
  js("reads a file", `return (await import("node:fs")).readFileSync(inputs.file, "utf8")`),
  js("reads a file by promise", `return (await import("node:fs/promises")).readFile(inputs.file, "utf8")`),
  js("imports a file as text", `return (await import("file://" + inputs.file, { with: { type: "text" } })).default`),
  js("fetches a file", `return (await fetch("file://" + inputs.file)).text()`),
  js("lists the root", `return (await import("node:fs")).readdirSync("/").length`),
  js("reads its own environment's file", `return (await import("node:fs")).readFileSync("/proc/self/environ", "utf8")`),
  js(
    "reads another's memory map",
    `return (await import("node:fs")).readFileSync("/proc/" + inputs.pid + "/maps", "utf8")`,
  ),
  js("reads a variable", `return (await import("node:process")).env.ERGON_PROBE_SECRET`),
  js("writes a file", `(await import("node:fs")).writeFileSync(inputs.target, "x"); return true`),
  js(
    "writes its own bundle",
    `(await import("node:fs")).appendFileSync(inputs.bundle + "/realm.ts", " "); return true`,
  ),
  js(
    "reads through a link",
    `const fs = await import("node:fs"); fs.symlinkSync(inputs.file, inputs.target); return fs.readFileSync(inputs.target, "utf8")`,
  ),
  js("makes a folder", `(await import("node:fs")).mkdirSync(inputs.target); return true`),
  js("fetches from this machine", `return (await fetch(inputs.url)).text()`),
  js(
    "opens a socket",
    `const { connect } = await import("node:net"); return new Promise((yes, no) => connect(inputs.port, "127.0.0.1", () => yes(true)).on("error", no))`,
  ),
  js(
    "asks by node:http",
    `const { get } = await import("node:http"); return new Promise((yes, no) => get(inputs.url, () => yes(true)).on("error", no))`,
  ),
  js(
    "opens a WebSocket",
    `return new Promise((yes, no) => { const s = new WebSocket("ws://127.0.0.1:" + inputs.port); s.onopen = () => yes(true); s.onerror = () => no(new Error("no")) })`,
  ),
  js("looks up a name", `return (await import("node:dns/promises")).lookup("localhost")`),
  js(
    "listens",
    `const { createServer } = await import("node:net"); return new Promise((yes, no) => createServer().on("error", no).listen(0, "127.0.0.1", () => yes(true)))`,
  ),
  js(
    "sends a datagram",
    `const s = (await import("node:dgram")).createSocket("udp4"); return new Promise((yes, no) => s.send("x", inputs.port, "127.0.0.1", (e) => e ? no(e) : yes(true)))`,
  ),
  js("runs a program", `return (await import("node:child_process")).execSync("id").toString()`),
  js(
    "runs itself again with every right",
    `const { execPath } = await import("node:process"); return (await import("node:child_process")).execFileSync(execPath, ["eval", "-A", "1"]).length + 1`,
  ),
  js(
    "reads from a thread",
    `const { Worker } = await import("node:worker_threads"); return new Promise((yes, no) => new Worker("require('worker_threads').parentPort.postMessage(require('fs').readFileSync(" + JSON.stringify(inputs.file) + ", 'utf8'))", { eval: true }).on("message", yes).on("error", no))`,
  ),
  js(
    "makes a worker with more rights",
    `return new Promise((yes, no) => { const w = new Worker("data:text/javascript,postMessage(Deno.readTextFileSync('" + inputs.file + "'))", { type: "module", deno: { permissions: { read: true } } }); w.onmessage = (e) => yes(e.data); w.onerror = (e) => { e.preventDefault(); no(new Error(e.message)) } })`,
  ),
  js(
    "finds Deno in a worker of its own",
    `return new Promise((yes, no) => { const w = new Worker("data:text/javascript,postMessage(Deno.readTextFileSync('" + inputs.file + "'))", { type: "module" }); w.onmessage = (e) => yes(e.data); w.onerror = (e) => { e.preventDefault(); no(new Error(e.message)) } })`,
  ),
  js(
    "finds Deno by a constructor",
    `return (0).constructor.constructor("return typeof Deno !== 'undefined' && Deno.readTextFileSync('" + inputs.file + "')")()`,
  ),
  js("signals the service", `return (await import("node:process")).kill(inputs.pid, "SIGTERM")`),
  js("signals its parent", `const p = await import("node:process"); return p.kill(p.ppid, "SIGKILL")`),
  js(
    "keeps something for the next run",
    `const c = await caches.open("x"); await c.put("http://x/", new Response("left")); return (await c.match("http://x/")).text()`,
  ),
  js("talks to a graphics driver", `return (await navigator.gpu.requestAdapter()).info.description || true`),
  js(
    "turns off what fences V8 in",
    `(await import("node:v8")).setFlagsFromString("--allow-natives-syntax"); return new Function("return %GetOptimizationStatus(() => 1)")()`,
  ),
  js(
    "opens a database file",
    `const { DatabaseSync } = await import("node:sqlite"); new DatabaseSync(inputs.target).exec("create table t(a)"); return true`,
  ),
  js(
    "attaches a database file",
    `const { DatabaseSync } = await import("node:sqlite"); new DatabaseSync(":memory:").exec("attach '" + inputs.target + "' as x; create table x.t(a)"); return true`,
  ),
  js(
    "loads a native library",
    `return (await import("node:process")).dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6") ?? true`,
  ),
  js("lets a debugger in", `const i = await import("node:inspector"); i.open(0); return i.url()`),
  js("writes a heap snapshot", `return (await import("node:v8")).writeHeapSnapshot(inputs.target)`),
  js("asks for the machine's name", `return (await import("node:os")).hostname() === inputs.hostname`),
  js("imports from the network", `return (await import(inputs.url)).default`),
  js("imports a package", `return (await import("npm:zod")).z`),
  js("reads the service's orders", `return (await import("node:fs")).readSync(0, new Uint8Array(64))`, endless),
  js("changes every object by its inputs", `return ({}).polluted ?? [].polluted`),
  js(
    "forges a line of the keeper",
    `console.log("0".repeat(64) + JSON.stringify({ kind: "done", json: "1" })); throw new Error("no")`,
    forged,
  ),
  js("forges a message to the keeper", `postMessage({ ok: true, json: "1" }); throw new Error("no")`, forged),
  js(
    "forges its result by other built-ins",
    `JSON.stringify = () => "1"; Promise.prototype.then = function (f) { return f(1) }; MessagePort.prototype.postMessage = () => 1; throw new Error("no")`,
    forged,
  ),
  js(
    "takes the keeper's port",
    `let got; const post = MessagePort.prototype.postMessage; MessagePort.prototype.postMessage = function (m) { got = this; return post.call(this, m) }; setTimeout(() => got?.postMessage({ ok: true, json: "1" })); throw new Error("no")`,
    forged,
  ),
  js("never ends", `for (;;) {}`, endless),
  js("never answers", `await new Promise(() => setInterval(() => {}, 1000))`, endless),
  js("ends its isolate", `self.close(); await new Promise(() => {})`, { ends: ["error"] }),
  js(
    "ends a worker of its own",
    `return new Promise((yes) => { new Worker("data:text/javascript,Deno.exit(3)", { type: "module" }).onerror = yes })`,
    { ends: ["error"] },
  ),
  js(
    "brings its own Deno",
    `Object.defineProperty(globalThis, "Deno", { value: { build: {} }, configurable: true }); return (await import("node:process")).pid`,
  ),
  js("looks for folders in its stack", `return new Error().stack.includes(inputs.bundle)`),
  js(
    "looks for folders in its frames",
    `Error.prepareStackTrace = (_, frames) => frames.map((f) => f.getFileName()); return new Error().stack.some((name) => name?.includes(inputs.bundle))`,
  ),
  js("looks for folders in its address", `return location.href.includes(inputs.bundle)`),
  js("looks for folders in a failed import", `return import("./x.js").catch((e) => e.message.includes(inputs.bundle))`),
  js(
    "spills a database to the disk",
    `const { DatabaseSync } = await import("node:sqlite"); const d = new DatabaseSync(":memory:"); d.exec("pragma temp_store = 1; pragma temp_store_directory = '" + inputs.folder + "'; pragma cache_size = 10; create temp table t(a)"); for (let n = 0; n < 64; n += 1) d.exec("insert into t values (randomblob(1000000))"); return d.prepare("select count(*) n from t").get().n`,
    { ends: ["error"] },
  ),
  js("ends its process", `(await import("node:process")).abort()`, {
    ends: ["killed", "error", "timeout"],
    timeoutMs: SHORT_MS,
  }),
  js("writes without end", `for (;;) console.log("x".repeat(4096))`, { ...greedy, ends: ["killed", "timeout"] }),
  js("takes all memory by arrays", `const a = []; for (;;) a.push(new Uint8Array(64e6).fill(1))`, greedy),
  js("takes all memory by objects", `let a; for (;;) a = { a, b: new Array(1e5).fill(a) }`, greedy),
  js("takes ten gigabytes at once", `return new Uint8Array(10 * 2 ** 30).fill(1).length`, greedy),
  js(
    "takes all memory by WebAssembly",
    `const m = new WebAssembly.Memory({ initial: 1, maximum: 65536 }); m.grow(40000); new Uint8Array(m.buffer).fill(1); return m.buffer.byteLength`,
    greedy,
  ),
  js(
    "starts threads without end",
    `const u = URL.createObjectURL(new Blob(["for(;;){}"])); for (;;) { new Worker(u, { type: "module" }); await 0 }`,
    { ends: ["killed", "timeout", "error"], timeoutMs: 5_000 },
  ),
  js("floods the keeper", `for (;;) postMessage("x".repeat(1e6))`, {
    ends: ["killed", "timeout", "error"],
    timeoutMs: 5_000,
  }),
  js("recurses without end", `const f = () => f(); f()`, { ends: ["error", "killed"] }),
  js("matches without end", `/(a+)+$/.test("a".repeat(40) + "b")`, endless),
];

const PYODIDE: readonly Probe[] = [
  py("reads a file", `open(inputs["file"]).read()`),
  py(
    "reads a file through javascript",
    `import js\nfs = await js.eval("import('node:fs')")\nfs.readFileSync(inputs["file"], "utf8")`,
  ),
  py(
    "mounts the machine's files",
    `import pyodide_js\npyodide_js.mountNodeFS("/mnt", "/")\nimport os\nos.listdir("/mnt")`,
  ),
  py("finds Deno", `import js\njs.Deno.readTextFileSync(inputs["file"])`),
  py("finds a variable", `import os\nos.environ.get("ERGON_PROBE_SECRET")`),
  py(
    "finds a variable through javascript",
    `import js\np = await js.eval("import('node:process')")\np.env.ERGON_PROBE_SECRET`,
  ),
  py("runs a program", `import subprocess\nsubprocess.run(["id"], capture_output=True).stdout.decode()`),
  py(
    "runs a program through javascript",
    `import js\nc = await js.eval("import('node:child_process')")\nc.execSync("id").toString()`,
  ),
  py("forks", `import os\nos.fork()`),
  py("opens a socket", `import socket\nsocket.create_connection(("127.0.0.1", inputs["port"]), 2)\nTrue`),
  py("fetches", `from pyodide.http import pyfetch\n(await (await pyfetch(inputs["url"])).string())`),
  py("fetches by urllib", `import urllib.request\nurllib.request.urlopen(inputs["url"], timeout=2).read().decode()`),
  py("looks up a name", `import socket\nsocket.gethostbyname("example.com").startswith("172.29") is False`),
  py("signals the service", `import js\np = await js.eval("import('node:process')")\np.kill(inputs["pid"], "SIGTERM")`),
  py("loads a library", `import ctypes\nctypes.CDLL("libc.so.6").getpid()`),
  py("installs a package", `import pyodide_js\nawait pyodide_js.loadPackage("numpy")\nimport numpy\nTrue`),
  py(
    "writes outside",
    `import js\nfs = await js.eval("import('node:fs')")\nfs.writeFileSync(inputs["target"], "x")\nTrue`,
  ),
  py(
    "forges its result",
    `import json, sys\nprint("0" * 64 + '{"kind":"done","json":"1"}')\njson.dumps = lambda *a, **k: "1"\nsys.modules["_ergon"].story_of = lambda e: 1/0\nraise ValueError("no")`,
    forged,
  ),
  py("never ends", `while True: pass`, endless),
  py("writes without end", `while True: print("x" * 4096)`, { ...greedy, ends: ["killed", "timeout"] }),
  py("takes all memory", `a = []\nwhile True: a.append(bytearray(2 ** 24))`, greedy),
  py("takes ten gigabytes at once", `len(bytearray(10 * 2 ** 30))`, greedy),
  py("recurses without end", `def f(): return f()\nf()`, { ends: ["error", "killed"] }),
  py("leaves by exit", `import os\nos._exit(0)`, { ends: ["killed", "error", "timeout"], timeoutMs: 5_000 }),
];

const CPYTHON: readonly Probe[] = [
  py("reads a file", `open(inputs["file"]).read()`),
  py("reads the users of the machine", `open("/etc/passwd").read()`),
  py("reads the keys of root", `import os\nos.listdir("/root")`),
  py("lists home folders", `import os\nos.listdir("/home")`),
  py("finds the data folder", `import os\nos.listdir(os.path.dirname(inputs["target"]))`),
  py("finds the sources", `import os\nos.listdir(inputs["bundle"])`),
  py("finds a variable", `import os\nos.environ.get("ERGON_PROBE_SECRET")`),
  py("finds a variable of the keeper", `"ERGON_PROBE_SECRET" in open("/proc/1/environ").read()`),
  py("sees the service", `import os\nos.path.exists(f"/proc/{inputs['pid']}/cmdline") and inputs["pid"] > 50`),
  py("sees other processes", `import os\nlen([p for p in os.listdir("/proc") if p.isdecimal()]) > 6`),
  py("signals the service", `import os\nos.kill(inputs["pid"], 15)\nTrue`),
  py("becomes root", `import os\nos.setuid(0)\nos.getuid() == 0`),
  py(
    "becomes root by a program",
    `import subprocess\nsubprocess.run(["su", "-c", "id -u"], capture_output=True, timeout=5, check=True).stdout.decode()`,
  ),
  py("has capabilities", `any(int(l.split()[1], 16) for l in open("/proc/self/status") if l.startswith("CapEff"))`),
  py(
    "makes a user namespace",
    `import os\nos.unshare(os.CLONE_NEWUSER) if hasattr(os, "unshare") else __import__("subprocess").run(["unshare", "-U", "true"], check=True)\nTrue`,
  ),
  py("mounts", `import subprocess\nsubprocess.run(["mount", "-t", "tmpfs", "x", "/tmp"], check=True)\nTrue`),
  py(
    "remounts the root to write",
    `import subprocess\nsubprocess.run(["mount", "-o", "remount,rw", "/"], check=True)\nTrue`,
  ),
  py("changes its root", `import os\nos.chroot("/tmp")\nTrue`),
  py("writes the root", `open("/x", "w").write("x")`),
  py("writes programs", `open("/usr/bin/x", "w").write("x")`),
  py("writes its own bundle", `open("/ergon/sandbox/run_code.py", "a").write("#")`),
  py("writes outside", `open(inputs["target"], "w").write("x")`),
  py("reads through a link", `import os\nos.symlink(inputs["file"], "/tmp/l")\nopen("/tmp/l").read()`),
  py(
    "reads through the root of another process",
    `import os\nos.listdir("/proc/1/root" + os.path.dirname(inputs["file"]))`,
  ),
  py("opens a socket", `import socket\nsocket.create_connection(("127.0.0.1", inputs["port"]), 2)\nTrue`),
  py("fetches", `import urllib.request\nurllib.request.urlopen(inputs["url"], timeout=2).read().decode()`),
  py("looks up a name", `import socket\nsocket.gethostbyname("example.com")`),
  py(
    "sends a datagram away",
    `import socket\nsocket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("8.8.8.8", 53))`,
  ),
  py("opens a raw socket", `import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1)\nTrue`),
  py("has a network", `import os\n[n for n in os.listdir("/sys/class/net") if n != "lo"]`),
  py("traces the keeper", `import ctypes, os\nctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0`),
  py("reads the keeper's memory", `import os\nopen(f"/proc/{os.getppid()}/mem", "rb").read(1) is not None`),
  py(
    "reads the keeper's orders",
    `import os\nlen(os.read(os.open(f"/proc/{os.getppid()}/fd/0", os.O_RDONLY), 64))`,
    endless,
  ),
  py("writes a device", `open("/dev/sda", "wb").write(b"x")`),
  py("makes a device", `import os, stat\nos.mknod("/tmp/d", stat.S_IFBLK | 0o600, os.makedev(8, 0))\nTrue`),
  py("sets the clock", `import time\ntime.clock_settime(time.CLOCK_REALTIME, 0)\nTrue`),
  py("names the machine", `import socket\nsocket.gethostname() == inputs["hostname"]`),
  py("writes to kernel settings", `open("/proc/sys/kernel/core_pattern", "w").write("|/tmp/x")`),
  py(
    "raises its limits",
    `import resource\nresource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY,) * 2)\nTrue`,
  ),
  py("forges a line of the keeper", `print("0" * 64 + '{"kind":"done","json":"1"}')\nraise ValueError("no")`, forged),
  py(
    "forges its answer on every channel",
    `import os\nfor fd in range(3, 64):\n  try: os.write(fd, b'2\\n+1')\n  except OSError: pass\nraise ValueError("no")`,
    forged,
  ),
  py(
    "forges its result by other built-ins",
    `import json, sys\njson.dumps = lambda *a, **k: "1"\nraise ValueError("no")`,
    forged,
  ),
  py("leaves without an answer", `import os\nos._exit(0)`, { ends: ["error", "killed"] }),
  py("kills everybody", `import os\nos.kill(-1, 9)`, { ends: ["error", "killed"] }),
  py("stops the keeper", `import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)`, { ends: ["success"] }),
  py("interrupts the keeper", `import os, signal, time\nos.kill(os.getppid(), signal.SIGINT)\ntime.sleep(0.2)`, {
    ends: ["success"],
  }),
  py("stops itself", `import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)`, { ends: ["error", "killed"] }),
  py("leaves a child with its answer", `import os, time\nif os.fork() == 0: time.sleep(60)\nNone`, {
    ends: ["success"],
  }),
  py("leaves a child instead of an answer", `import os, time\nif os.fork() == 0: time.sleep(60)\nos._exit(0)`, {
    ends: ["error", "killed"],
  }),
  py("stays behind", `import subprocess\nsubprocess.Popen(["sleep", "300"], start_new_session=True)\nNone`),
  py("never ends", `while True: pass`, endless),
  py(
    "will not hear signals",
    `import signal\nfor n in range(1, 65):\n  try: signal.signal(n, signal.SIG_IGN)\n  except (OSError, ValueError): pass\nwhile True: pass`,
    endless,
  ),
  py("forks without end", `import os\nwhile True:\n  try: os.fork()\n  except OSError: pass`, {
    ends: ["timeout", "killed", "error"],
    timeoutMs: SHORT_MS,
  }),
  py(
    "starts threads without end",
    `import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(60,)).start()`,
    { ends: ["error", "killed", "timeout"], timeoutMs: 5_000 },
  ),
  py("takes all memory", `a = []\nwhile True: a.append(bytearray(b"x") * 2 ** 24)`, greedy),
  py("takes ten gigabytes at once", `len(bytearray(10 * 2 ** 30))`, greedy),
  py(
    "takes memory in many processes",
    `import os, time\nfor n in range(20):\n  if os.fork() == 0: break\na = bytearray(b"x") * (300 * 2 ** 20)\ntime.sleep(60)`,
    greedy,
  ),
  py("fills its disk", `f = open("/tmp/x", "wb")\nwhile True: f.write(b"x" * 2 ** 20)`, greedy),
  py("fills shared memory", `f = open("/dev/shm/x", "wb")\nwhile True: f.write(b"x" * 2 ** 20)`, greedy),
  py("writes without end", `while True: print("x" * 4096)`, { ...greedy, ends: ["killed", "timeout"] }),
  py("recurses without end", `import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): return f()\nf()`, {
    ends: ["error", "killed"],
    timeoutMs: PATIENT_MS,
  }),
];

export const PROBES = {
  default: [...JAVASCRIPT, ...PYODIDE],
  hardened: [...JAVASCRIPT, ...PYODIDE],
  data: CPYTHON,
} as const;
