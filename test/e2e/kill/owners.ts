import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "@ergon/core/engine";
import { createRemoteEngine } from "@ergon/node";
import { DOORS, plainEnvironment } from "../ergon.ts";
import { ownerAccess } from "../owner-access.ts";

export type OwnerOptions = {
  /** The data folder. */
  readonly data: string;
  readonly capabilities: string;
  readonly env: Readonly<Record<string, string>>;
};

/** The processes that own the folder, one after the other, each the real `ergon serve`. */
export type Owners = {
  /** Starts the next one. `cold`: by the launcher, as people do; else one whose code is loaded already. */
  readonly begin: (start: "cold" | "warm") => Promise<void>;
  /** Resolves when it accepts requests; false when it ended before that. */
  readonly ready: () => Promise<boolean>;
  /** Ends the one that lives, and gives its exit code; null after SIGKILL. */
  readonly end: (signal: "SIGKILL" | "SIGTERM") => Promise<number | null>;
  /** The one that accepts requests now, or the next that does. */
  readonly engine: () => Promise<Engine>;
  /** What the processes said on stderr, the last of it. */
  readonly said: () => string;
  /** Leaves no process behind. */
  readonly close: () => Promise<void>;
};

type Child = ChildProcessByStdio<Writable, Readable, Readable>;
type Life = { readonly child: Child; readonly closed: Promise<unknown>; readonly ready: Promise<boolean> };

const STANDBY = join(import.meta.dirname, "standby.fixture.ts");
const MAX_SAID = 20_000;

export function createOwners({ data, capabilities, env }: OwnerOptions): Owners {
  const args = ["serve", "--port", "0", "--data", data, "--capabilities", capabilities];
  const children = new Set<Child>();
  let said = "";
  let living: Life | undefined;
  let engine: Engine | undefined;
  let standby = launch([STANDBY]);

  function launch(script: readonly string[]): Child {
    const child = spawn(process.execPath, script, { env: { ...plainEnvironment(), ...env }, stdio: "pipe" });
    children.add(child);
    child.once("close", () => children.delete(child));
    child.stdin.on("error", () => undefined);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-MAX_SAID);
    });
    return child;
  }

  async function accepts(child: Child): Promise<boolean> {
    for await (const line of createInterface({ input: child.stdout })) {
      if (!line.startsWith("ready ")) continue;
      child.stdout.resume();
      if (child.killed) return false;
      engine = createRemoteEngine(ownerAccess(data));
      return true;
    }
    return false;
  }

  return {
    begin: async (start) => {
      const child = start === "cold" ? launch([DOORS.built, ...args]) : standby;
      const closed = once(child, "close");
      if (start === "warm") {
        child.stdin.write(`${JSON.stringify(args)}\n`);
        standby = launch([STANDBY]);
      }
      living = { child, closed, ready: accepts(child) };
    },
    ready: async () => (await living?.ready) ?? false,
    end: async (signal) => {
      if (living === undefined) return null;
      const { child, closed } = living;
      engine = undefined;
      child.kill(signal);
      await closed;
      return child.exitCode;
    },
    engine: async () => {
      while (engine === undefined) await sleep(2);
      return engine;
    },
    said: () => said,
    close: async () => {
      const ended = [...children].map((child) => once(child, "close"));
      for (const child of children) child.kill("SIGKILL");
      await Promise.all(ended);
    },
  };
}
