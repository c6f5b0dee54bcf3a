import type { Command } from "commander";
import { group, type Run } from "../command-group.ts";

export function addTools(program: Command, run: Run): void {
  const list = async () => run(async (context) => (await import("./tools-list.ts")).listTools(context));
  const tools = group(program, "tools", "list tools, show one, call one", {
    words: ["list", "show", "call"],
    usage: "[list | show <id> | call <id>] [options]",
    plain: list,
  });
  tools.command("list").description("list every tool with what it may do to the world").action(list);
  tools
    .command("show")
    .argument("<id>", "the tool's id, as in the list")
    .description("show a tool's parameters and what it returns")
    .action(async (id: string) => run(async (context) => (await import("./tools-show.ts")).showTool(context, id)));
  tools
    .command("call")
    .argument("<id>", "the tool's id, as in the list")
    .description("call a tool; typed by you, it counts as approved")
    .option("--args <json>", "the arguments: a JSON object, @file, or - for stdin", "{}")
    .option("--role <role>", "the role to act for, where a tool is for some only (default: general)")
    .action(async (id: string, options: { args: string; role?: string }) =>
      run(async (context) => (await import("./tools-call.ts")).callTool(context, { toolId: id, ...options })),
    );
}
