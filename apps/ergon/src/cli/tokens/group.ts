import type { Command } from "commander";
import { group, type Run } from "../command-group.ts";

export function addTokens(program: Command, run: Run): void {
  const list = async () => run(async (context) => (await import("./token.ts")).listTokens(context));
  const token = group(program, "token", "show the first token, make tokens for others, list them, revoke one", {
    words: ["show", "add", "list", "revoke"],
    usage: "[show | add <name> | list | revoke <name>] [options]",
    plain: list,
  });
  token
    .command("add")
    .argument("<name>", "who will hold it; what they make belongs to this name")
    .description("make a token and show it, this once")
    .option("--scope <scope>", "agent, or person to also approve and change tokens", "agent")
    .action(async (name: string, { scope }: { scope: string }) =>
      run(async (context) => (await import("./token.ts")).addToken(context, { name, scope })),
    );
  token
    .command("show")
    .description("show the first token: what this folder's API is called with")
    .action(async () => run(async (context) => (await import("./token.ts")).showToken(context)));
  token.command("list").description("list the tokens beside the first one").action(list);
  token
    .command("revoke")
    .argument("<name>", "whose token")
    .description("revoke a token; it opens nothing from now on")
    .action(async (name: string) => run(async (context) => (await import("./token.ts")).revokeToken(context, name)));
}
