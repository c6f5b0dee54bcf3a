import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Load } from "./http.load.ts";

export type Pipe = {
  readonly load: (callers: number, ms: number) => Promise<Load>;
  readonly close: () => void;
  /** Closes the pipe and waits for the process. */
  readonly end: () => Promise<void>;
};

type Answer = { readonly id?: number; readonly result?: { readonly structuredContent?: { readonly id?: string } } };

/** An MCP server on a pipe, spoken to by hand; resolves when it has listed its tools. */
export async function openPipe(args: readonly string[], tool: string, env = process.env): Promise<Pipe> {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"], env });
  const waiting = new Map<number, (answer: Answer) => void>();
  let lastId = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as Answer;
    if (answer.id === undefined) return;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  const write = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const ask = (method: string, params: object): Promise<Answer> => {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    lastId += 1;
    waiting.set(lastId, resolve);
    write({ id: lastId, method, params });
    return promise;
  };
  const clientInfo = { name: "bench", version: "1" };
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  write({ method: "notifications/initialized" });
  await ask("tools/list", {});
  // A bare tool logs nothing: a client that wants to hear of errors only hears as much of ours.
  const quiet = async (): Promise<void> => void (await ask("logging/setLevel", { level: "error" }));
  const begin = async (): Promise<string> => {
    if (tool !== "decide_loop_next_action") return "none";
    await quiet();
    const call = { name: "initialize_refinement_loop", arguments: { loop_type: "build_code" } };
    return (await ask("tools/call", call)).result?.structuredContent?.id ?? "";
  };
  let loopId: Promise<string> | undefined;
  return {
    load: async (callers, ms) => {
      const loop_id = await (loopId ??= begin());
      const latenciesMs: number[] = [];
      const startedMs = performance.now();
      await Promise.all(
        Array.from({ length: callers }, async () => {
          while (performance.now() < startedMs + ms) {
            const askedMs = performance.now();
            await ask("tools/call", { name: tool, arguments: { loop_id, current_score: 50 } });
            latenciesMs.push(performance.now() - askedMs);
          }
        }),
      );
      return { perSecond: (latenciesMs.length * 1_000) / (performance.now() - startedMs), latenciesMs };
    },
    close: () => void child.kill("SIGKILL"),
    end: async () => {
      const closed = once(child, "close");
      child.stdin.end();
      await closed;
    },
  };
}
