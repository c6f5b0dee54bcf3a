import type { Command } from "commander";
import type { CommandContext } from "../command-context.ts";
import type * as serverCommands from "./servers.ts";
import type { ExitCode } from "../exit-codes.ts";
import { collect, group, type Run } from "../command-group.ts";

export function addServers(program: Command, run: Run): void {
  const command = (start: (commands: ServerCommands, context: CommandContext) => Promise<ExitCode>) =>
    run(async (context) => start(await import("./servers.ts"), context));
  const list = () => command((commands, context) => commands.listServers(context));
  const servers = group(program, "servers", "the MCP servers that Ergon is a client of", {
    words: [
      "list",
      "add",
      "remove",
      "test",
      "approve",
      "login",
      "logout",
      "import",
      "resources",
      "prompts",
      "stats",
      "search",
    ],
    usage:
      "[list | add <id> | remove <id> | test <id> | approve <id> | login <id> | logout <id> | import <file> | resources <id> | prompts <id> | search <words> | stats] [options]",
    plain: list,
  });
  servers.command("list").description("list the servers with how they are").action(list);
  servers
    .command("add")
    .argument("<id>", "a short name; its tools are called <id>_<tool>")
    .argument("[command...]", "after --: the command that starts it, with its arguments")
    .description("add a server to the configuration and start it")
    .usage("<id> [options] (-- <command...> | --url <url>)")
    .option("--url <url>", "reach it over HTTP instead of starting it")
    .option("--name <name>", "what its tools' names begin with, if not the id")
    .option("--env <name=value>", "a variable for it; may be repeated; ${NAME} takes it from the environment", collect)
    .option("--header <name:value>", "a header for --url; may be repeated", collect)
    .option("--cwd <dir>", "the folder it is started in")
    .option("--timeout-ms <n>", "how long it may take to start, and to answer")
    .option("--trusted", "believe what it says of its tools: which only read, which may be repeated")
    .option("--disabled", "keep it, and do not start it")
    .option("--read <dir>", "a folder that it may read behind its fence; may be repeated", collect)
    .option("--write <dir>", "a folder that it may read and write behind its fence; may be repeated", collect)
    .option("--no-network", "keep it from the network")
    .option("--no-fence", "start it with all of your rights, though it could be fenced (bubblewrap)")
    .action((id: string, words: readonly string[], options: AddServerFlags) =>
      command((commands, context) => commands.addServer(context, { id, words, ...options })),
    );
  const byId = (name: "remove" | "test" | "approve", description: string) =>
    servers
      .command(name)
      .argument("<id>", "the server's id")
      .description(description)
      .action((id: string) => command((commands, context) => commands[`${name}Server`](context, id)));
  byId("remove", "stop a server and take it out of the configuration");
  byId("test", "start a server once and say what it has; exit 1 when it cannot be reached");
  byId("approve", "let a server start that was found in the working folder");
  const byLogin = (name: "login" | "logout", description: string) =>
    servers
      .command(name)
      .argument("<id>", "the server's id")
      .description(description)
      .action((id: string) =>
        run(async (context) => (await import("./servers-login.ts"))[`${name}Server`](context, id)),
      );
  byLogin("login", "log in at a remote server with a browser; prints the address to open");
  byLogin("logout", "forget the login at a remote server");
  servers
    .command("import")
    .argument("<file>", "a configuration of Claude, Cursor or VS Code")
    .description("add the servers of another program's configuration")
    .action((file: string) => command((commands, context) => commands.importFrom(context, file)));
  servers
    .command("resources")
    .argument("<id>", "the server's id")
    .argument("[uri]", "what to read")
    .description("list what a server offers to read, or read it")
    .action((id: string, uri?: string) => command((commands, context) => commands.showResources(context, id, uri)));
  servers
    .command("prompts")
    .argument("<id>", "the server's id")
    .argument("[name]", "the prompt to fill in")
    .description("list a server's prompts, or fill one in")
    .option("--args <json>", "the prompt's arguments: a JSON object, @file, or - for stdin", "{}")
    .action((id: string, name: string | undefined, { args }: { args: string }) =>
      command((commands, context) => commands.showPrompts(context, id, { name, args })),
    );
  servers
    .command("stats")
    .description("calls, failures, times and energy of servers' tools")
    .action(() => command((commands, context) => commands.showStats(context)));
  servers
    .command("search")
    .argument("<words...>", "what the server should do, or its name")
    .description("search the registry of MCP servers")
    .option("--limit <n>", "at most so many (default 10)")
    .action((words: readonly string[], options: { limit?: string }) =>
      run(async (context) => (await import("./servers-search.ts")).searchServers(context, words, options)),
    );
}

type AddServerFlags = {
  url?: string;
  name?: string;
  env?: readonly string[];
  header?: readonly string[];
  cwd?: string;
  timeoutMs?: string;
  trusted?: boolean;
  disabled?: boolean;
};

type ServerCommands = typeof serverCommands;
