import type { Command } from "commander";
import { group, type Run } from "../command-group.ts";

export function addSessions(program: Command, run: Run): void {
  type ListFlags = { status?: string; limit: string; cursor?: string; all?: boolean };
  const list = async (options: ListFlags) =>
    run(async (context) => (await import("./sessions.ts")).listSessions(context, options));
  const sessions = group(program, "sessions", "list sessions, show one, read its history", {
    words: ["list", "show", "history", "diff"],
    usage: "[list | show <id> | history <id> | diff <a> <b>] [options]",
    plain: () => list({ limit: "50" }),
  });
  sessions
    .command("list")
    .description("list sessions, newest first")
    .option("--status <words>", "only these, separated by commas")
    .option("--limit <n>", "how many at most", "50")
    .option("--cursor <text>", "go on where an earlier list ended")
    .option("--all", "single tool calls and corrections, too")
    .action(list);
  sessions
    .command("show")
    .argument("<id>", "the session's id")
    .description("show a session's status, context and open waits")
    .action(async (id: string) => run(async (context) => (await import("./sessions.ts")).showSession(context, id)));
  sessions
    .command("history")
    .argument("<id>", "the session's id")
    .description("show a session's calls, oldest first")
    .action(async (id: string) => run(async (context) => (await import("./sessions.ts")).showHistory(context, id)));
  addDiff(sessions, run);
}

function addDiff(sessions: Command, run: Run): void {
  sessions
    .command("diff")
    .argument("<a>", "a session's id")
    .argument("<b>", "another session's id")
    .description("compare two runs call by call: arguments, outputs, time, energy")
    .option("--all", "show what is the same, too")
    .action(async (a: string, b: string, { all }: { all?: boolean }) =>
      run(async (context) => (await import("./sessions-diff.ts")).diffSessions(context, { a, b, all: all === true })),
    );
}
