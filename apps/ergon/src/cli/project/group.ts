import type { Command } from "commander";
import { unknownCommand, type Run } from "../command-group.ts";
import type { NEW_PARTS } from "./new-parts.ts";

const KINDS = ["tool", "action", "plan"] as const satisfies readonly (keyof typeof NEW_PARTS)[];

export function addProject(program: Command, run: Run): void {
  program
    .command("init")
    .argument("[dir]", "the project's folder", ".")
    .description("make a project: a tool, a plan, a test and types")
    .action(async (folder: string) => run(async (context) => (await import("./init.ts")).initProject(context, folder)));
  program
    .command("new")
    .argument("<kind>", "tool, action or plan")
    .argument("<name>", "its name, as in shop::charge")
    .description("add a tool, an action or a plan to the project")
    .action(async (kind: string, name: string) => {
      const part = KINDS.find((known) => known === kind);
      if (part === undefined) throw await unknownCommand(`new ${kind}`, kind, KINDS);
      await run(async (context) => (await import("./new.ts")).addPart(context, part, name));
    });
  program
    .command("dev")
    .description("serve the project, restart when its files change, and show every step live")
    .option("--port <n>", "the port; 0 picks a free one (default 8000)")
    .action(async (options: { readonly port?: string }) =>
      run(async (context) => (await import("./dev.ts")).develop(context, { ...options, argv: program.opts() })),
    );
}
