import { execFileSync, fork, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Answer, Task } from "./contender.ts";

/** A contender in a process of its own. */
export type Child = {
  readonly maxSteps: number;
  /** Rejects with what the contender said, with how its process ended, or when it takes longer than `limitMs`. */
  readonly ask: (task: Task, limitMs: number) => Promise<Answer>;
  readonly end: () => void;
};

export type ChildOptions = {
  /** Its file in this folder, without the ending. */
  readonly file: string;
  /** What it needs from npm, with exact versions; installed into a folder of its own. None for Ergon. */
  readonly packages?: readonly string[];
  /** Under the Node that the machine has, not the one that Ergon brings. */
  readonly machineNode?: boolean;
  readonly env?: Readonly<Record<string, string>>;
};

const HERE = import.meta.dirname;
const PEERS = join(HERE, "..", ".peers");
const START_LIMIT_MS = 60_000;
const INSTALL_LIMIT_MS = 300_000;
/** A package that compiles itself says a lot. */
const MAX_INSTALL_OUTPUT = 64 * 1024 * 1024;

export async function startChild(options: ChildOptions): Promise<Child> {
  const { file, packages, machineNode = false, env = {} } = options;
  const place = packages === undefined ? HERE : install(file, packages, machineNode);
  const ending = packages === undefined ? "ts" : "mjs";
  const folder = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  const process = fork(join(place, `serve.${ending}`), [join(place, `${file}.${ending}`), folder], {
    ...(machineNode ? { execPath: onMachine("node") } : {}),
    execArgv: [],
    env: { ...globalThis.process.env, NODE_NO_WARNINGS: "1", ...env },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const answers = answersOf(process);
  const ready = await answers.next(START_LIMIT_MS);
  if (ready.kind !== "ready") throw new Error(`${file} said ${ready.kind} instead of ready.`);
  return {
    maxSteps: ready.maxSteps ?? Number.POSITIVE_INFINITY,
    ask: (task, limitMs) => {
      process.send(task);
      return answers.next(limitMs);
    },
    // At once: one that is busy with a long run hears no gentler word.
    end: () => {
      process.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Answers = { readonly next: (limitMs: number) => Promise<Answer> };

/** One task at a time, so one answer at a time. */
function answersOf(process: ChildProcess): Answers {
  let waiting = nextAnswer();
  let errors = "";
  process.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors = (errors + text).slice(-2_000);
  });
  process.on("message", (answer: Answer) => {
    if (answer.kind === "failed") waiting.reject(new Error(answer.reason));
    else waiting.resolve(answer);
  });
  process.on("exit", (code, signal) => {
    waiting.reject(new Error(`It ended with ${String(signal ?? code)}. ${errors.trim()}`));
  });
  return {
    next: async (limitMs) => {
      const late = setTimeout(() => waiting.reject(new Error(`It did not answer in ${String(limitMs)} ms.`)), limitMs);
      try {
        return await waiting.promise;
      } finally {
        clearTimeout(late);
        waiting = nextAnswer();
      }
    },
  };
}

/** A process may end while nobody waits for it. */
function nextAnswer(): PromiseWithResolvers<Answer> {
  const next = Promise.withResolvers<Answer>();
  next.promise.catch(() => {});
  return next;
}

/** Installs what a peer needs, once, and puts our two files for it beside it as JavaScript: its Node may be an old one. */
function install(file: string, packages: readonly string[], machineNode: boolean): string {
  const place = join(PEERS, file);
  const wanted = JSON.stringify({ private: true, type: "module", peers: packages }, null, 2);
  const mark = join(place, "installed.json");
  if (!existsSync(mark) || readFileSync(mark, "utf8") !== wanted) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "package.json"), wanted);
    console.error(`installing ${packages.join(", ")} …`);
    // Native parts are built for the Node that npm runs on.
    const path = machineNode ? machinePath() : process.env["PATH"];
    const args = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--prefix", place, ...packages];
    execFileSync("npm", args, {
      cwd: place,
      env: { ...process.env, PATH: path },
      stdio: "pipe",
      maxBuffer: MAX_INSTALL_OUTPUT,
      timeout: INSTALL_LIMIT_MS,
    });
    writeFileSync(mark, wanted);
  }
  for (const name of ["serve", file]) {
    const code = stripTypeScriptTypes(readFileSync(join(HERE, `${name}.ts`), "utf8"));
    writeFileSync(join(place, `${name}.mjs`), code);
  }
  return place;
}

/** PATH without the programs that npm brought. */
function machinePath(): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.filter((folder) => !folder.includes("node_modules")).join(delimiter);
}

function onMachine(program: string): string {
  const found = machinePath()
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find(existsSync);
  if (found === undefined) throw new Error(`This machine has no ${program} of its own.`);
  return found;
}
