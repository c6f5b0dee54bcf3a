import { type Command, Option } from "commander";
import { group, type Run } from "../command-group.ts";

export function addLoops(program: Command, run: Run): void {
  type Flags = { owner?: string };
  const list = async (options: Flags) =>
    run(async (context) => (await import("./loops.ts")).listLoops(context, options));
  const loops = group(program, "loops", "list refinement loops, show one", {
    words: ["list", "show"],
    usage: "[list | show <id>] [options]",
    plain: () => list({}),
  });
  const owner = () => new Option("--owner <principal>", "whose: a token's name, or stdio:NAME of an MCP client");
  loops
    .command("list")
    .description("list refinement loops, oldest first, finished ones included")
    .addOption(owner())
    .action(list);
  loops
    .command("show")
    .argument("<id>", "the loop's id")
    .description("show a loop with all its scores")
    .addOption(owner())
    .action(async (id: string, options: Flags) =>
      run(async (context) => (await import("./loops.ts")).showLoop(context, { id, ...options })),
    );
}
