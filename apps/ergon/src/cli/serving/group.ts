import { type Command, Option } from "commander";
import { unknownCommand, type GlobalFlags, type Run } from "../command-group.ts";

type TokenOptions = { token?: string; tokenFile?: string };

export function addServe(program: Command, run: Run): void {
  program
    .command("serve")
    .description("serve the API; prints one line `ready http://HOST:PORT` when it accepts requests")
    .option("--port <n>", "the port; 0 picks a free one (default 8000)")
    .option("--host <name>", "the address to listen on (default 127.0.0.1)")
    .option(
      "--token-file <file>",
      "the first token is in this file; else ERGON_TOKEN, else the one of ergon token show",
    )
    .option("--token <token>", "the first token; other users of this machine can read it in the list of processes")
    .option("--gateway", "show the tools, resources and prompts of the MCP servers to MCP clients, too")
    .option("--live", "show every step of the first token's sessions as it happens")
    .action(async (options: TokenOptions & { port?: string; host?: string; gateway?: boolean; live?: boolean }) =>
      run(async (context) => (await import("./serve.ts")).serve(context, options)),
    );
}

export function addSandbox(program: Command, run: Run): void {
  program
    .command("sandbox")
    .description("serve the sandbox alone, for Ergons elsewhere; Ergon starts its own when it needs one")
    .option("--port <n>", "the port; 0 picks a free one (default 0)")
    .option("--host <name>", "the address to listen on (default 127.0.0.1)")
    .option("--token-file <file>", "what callers come in with; else ERGON_SANDBOX_TOKEN, else a new one")
    .option("--token <token>", "the same; other users of this machine can read it in the list of processes")
    .addOption(new Option("--attached", "end with stdin").hideHelp())
    .action(async (options: TokenOptions & { port?: string; host?: string; attached?: boolean }) =>
      run(async (context) => (await import("./sandbox.ts")).serveCode(context, options)),
    );
}

/** The sub-agent's own process; Ergon starts it, nobody else. */
export function addSubAgent(program: Command, run: Run): void {
  program
    .command("subagent", { hidden: true })
    .action(() => run(async (context) => (await import("../talk/subagent.ts")).serveOrders(context)));
}

export function addMcp(program: Command, run: Run): void {
  const mcp = program
    .command("mcp")
    .description("serve MCP on stdin and stdout, for a client that starts it")
    .argument("[words...]")
    .usage("[install --client <name>] [options]")
    .option("--name <name>", "act as stdio:NAME, the same at every start; else a new principal each time")
    .option("--gateway", "show the tools, resources and prompts of the MCP servers, too")
    .option("--may-approve", "let the client's user approve calls in its forms; else only `ergon approvals` can")
    .action(async ([word]: readonly string[], options: { name?: string; gateway?: boolean; mayApprove?: boolean }) => {
      if (word !== undefined) throw await unknownCommand(`mcp ${word}`, word, ["install"]);
      await run(async (context) => (await import("./mcp.ts")).serveMcp(context, options));
    });
  mcp
    .command("install")
    .description("write Ergon into a client's configuration; keeps a copy of what was there")
    .option("--client <name>", "claude, claude-code, cursor or vscode")
    .option("--file <path>", "the configuration file, where it is not the usual one")
    .option("--print", "show the entry instead of writing it")
    .option("--may-approve", "let the client's user approve calls in its forms, without being asked (default: no)")
    .action(async (options: { client?: string; file?: string; print?: boolean }) => {
      // `mcp` has the flag too, and commander gives it to the outer command.
      const { mayApprove } = mcp.opts<{ mayApprove?: boolean }>();
      const { data, capabilities } = program.opts<GlobalFlags>();
      const flags = {
        ...(data === undefined ? {} : { data }),
        ...(capabilities === undefined ? {} : { capabilities }),
        ...(mayApprove === undefined ? {} : { mayApprove }),
      };
      await run(async (context) => (await import("./mcp-install.ts")).installMcp(context, { ...options, ...flags }));
    });
}
