import type { ErgonError } from "@ergon/core";
import { Command, CommanderError, Option } from "commander";
import type { CommandContext } from "./command-context.ts";
import type * as serverCommands from "./commands/servers.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";

export type GlobalFlags = {
  readonly json?: boolean;
  readonly data?: string;
  readonly capabilities?: readonly string[];
  readonly mcpConfig?: string;
};

export type ProgramOptions = {
  readonly version: string;
  readonly write: (text: string) => void;
  /** Called by the command that runs, with the global flags that were given. */
  readonly context: (flags: GlobalFlags) => CommandContext;
};

/** Runs one command line. What is not run is not loaded: each action imports its command. */
export async function runProgram(argv: readonly string[], options: ProgramOptions): Promise<ExitCode> {
  let exit: ExitCode = EXIT.ok;
  const program = createProgram(options);
  const run: Run = async (start) => {
    exit = await start(options.context(program.opts<GlobalFlags>()));
  };
  addTools(program, run);
  addAsk(program, run);
  addChat(program, run);
  addRuns(program, run);
  addFork(program, run);
  addSessions(program, run);
  addPlans(program, run);
  addBlobs(program, run);
  addLoops(program, run);
  addApprovals(program, run);
  addServe(program, run);
  addSandbox(program, run);
  addSubAgent(program, run);
  addMcp(program, run);
  addServers(program, run);
  addTokens(program, run);
  addDoctor(program, run);
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.help") program.outputHelp();
    else if (error.exitCode !== 0) throw await usageFrom(error);
  }
  return exit;
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

type Run = (start: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

function createProgram({ version, write }: ProgramOptions): Command {
  const collect = (given: string, earlier: readonly string[] = []) => [...earlier, given];
  return new Command("ergon")
    .description("An agent runtime for MCP: tools, plans, durable runs, an energy budget.")
    .version(`ergon ${version}`, "--version", "show the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .option("--json", "answer with one JSON document on stdout")
    .option("--data <dir>", "the data folder (default: ./.ergon, or ERGON_DATA)")
    .option("--capabilities <dir>", "a folder with your own tools, actions and plans; may be repeated", collect)
    .option("--mcp-config <file>", "the MCP servers to connect to (default: ./mcp-servers.json, or MCP_CONFIG_PATH)")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: write, writeErr: () => undefined })
    .exitOverride()
    .addHelpText("after", EXAMPLES);
}

const EXAMPLES = `
Examples:
  ergon plans                                          what there is to run
  ergon ask "greet Ada"                                plan it, run it, sum up
  ergon chat                                           talk
  ergon run welcome_team --input '{"names":["Ada"]}'   run it, durably
  ergon sessions                                       what was run
  ergon tools                                          what there is to call
  ergon tools show demo::greet                         what it takes and gives
  ergon tools call demo::greet --args '{"who":"Ada"}'  call it
  ergon doctor                                         every setting, and what is wrong`;

function addTools(program: Command, run: Run): void {
  const list = async () => run(async (context) => (await import("./commands/tools-list.ts")).listTools(context));
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
    .action(async (id: string) =>
      run(async (context) => (await import("./commands/tools-show.ts")).showTool(context, id)),
    );
  tools
    .command("call")
    .argument("<id>", "the tool's id, as in the list")
    .description("call a tool; typed by you, it counts as approved")
    .option("--args <json>", "the arguments: a JSON object, @file, or - for stdin", "{}")
    .option("--role <role>", "the role to act for, where a tool is for some only (default: general)")
    .action(async (id: string, options: { args: string; role?: string }) =>
      run(async (context) => (await import("./commands/tools-call.ts")).callTool(context, { toolId: id, ...options })),
    );
}

function addAsk(program: Command, run: Run): void {
  program
    .command("ask")
    .argument("<message>", "what you want, in your own words")
    .description("plan it with the tools there are, run the plan live, and sum up")
    .option("--mode <mode>", "whom the answer is for: analyst, candidate, hiring or general", "general")
    .option("--session <id>", "go on in this session: it remembers what was said and found")
    .action(async (message: string, options: { mode: string; session?: string }) =>
      run(async (context) => (await import("./commands/ask.ts")).ask(context, { message, ...options })),
    );
}

function addChat(program: Command, run: Run): void {
  program
    .command("chat")
    .description("talk; answers, approvals and energy are shown as they come (/help inside says more)")
    .option("--conversation <id>", "go on with this conversation")
    .option("--budget <units>", "the energy that it should get by with")
    .action(async (options: { conversation?: string; budget?: string }) =>
      run(async (context) => (await import("./commands/chat.ts")).chat(context, options)),
    );
  program
    .command("energy")
    .description("show the energy that conversations live on, and what the loop is busy with")
    .action(async () => run(async (context) => (await import("./commands/energy.ts")).showEnergy(context)));
}

function addRuns(program: Command, run: Run): void {
  program
    .command("run")
    .argument("<plan>", "a plan's id, or a plan file")
    .description("run a plan and follow it live; prints the session's id")
    .option("--input <json>", "the plan's input: a JSON object, @file, or - for stdin", "{}")
    .option("--dry-run", "only say what it would do, with made-up values: nothing is called, asked or kept")
    .action(async (plan: string, { input, dryRun }: { input: string; dryRun?: boolean }) =>
      run(async (context) => {
        const { dryRunPlan, runPlan } = await import("./commands/run.ts");
        return dryRun === true ? dryRunPlan(context, { plan, input }) : runPlan(context, { plan, input });
      }),
    );
  program
    .command("resume")
    .argument("<session>", "the session's id")
    .description("answer what a session waits for, and follow it live")
    .option("--step <id>", "which wait, when several are open: a step's id or a wait's path")
    .option("--input <json>", "the answer: JSON, @file, or - for stdin")
    .action(async (sessionId: string, options: { step?: string; input?: string }) =>
      run(async (context) => (await import("./commands/resume.ts")).resumeSession(context, { sessionId, ...options })),
    );
  program
    .command("cancel")
    .argument("<session>", "the session's id")
    .description("cancel a session")
    .action(async (sessionId: string) =>
      run(async (context) => (await import("./commands/cancel.ts")).cancelSession(context, sessionId)),
    );
}

function addFork(program: Command, run: Run): void {
  program
    .command("fork")
    .argument("<session>", "the session's id")
    .description("start a new session from a step of this one, with context and history as they were then")
    .requiredOption("--from <step>", "a top-level step of its plan that has begun")
    .option("--input <json>", "another input for the plan: a JSON object, @file, or - for stdin")
    .action(async (sessionId: string, { from, input }: { from: string; input?: string }) =>
      run(async (context) =>
        (await import("./commands/fork.ts")).forkSession(context, { sessionId, fromStep: from, input }),
      ),
    );
}

function addSessions(program: Command, run: Run): void {
  type ListFlags = { status?: string; limit: string; cursor?: string; all?: boolean };
  const list = async (options: ListFlags) =>
    run(async (context) => (await import("./commands/sessions.ts")).listSessions(context, options));
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
    .option("--all", "single tool calls, too")
    .action(list);
  sessions
    .command("show")
    .argument("<id>", "the session's id")
    .description("show a session's status, context and open waits")
    .action(async (id: string) =>
      run(async (context) => (await import("./commands/sessions.ts")).showSession(context, id)),
    );
  sessions
    .command("history")
    .argument("<id>", "the session's id")
    .description("show a session's calls, oldest first")
    .action(async (id: string) =>
      run(async (context) => (await import("./commands/sessions.ts")).showHistory(context, id)),
    );
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
      run(async (context) =>
        (await import("./commands/sessions-diff.ts")).diffSessions(context, { a, b, all: all === true }),
      ),
    );
}

function addPlans(program: Command, run: Run): void {
  const list = async () => run(async (context) => (await import("./commands/plans.ts")).listPlans(context));
  const plans = group(program, "plans", "list plans, show one, check a file", {
    words: ["list", "show", "validate"],
    usage: "[list | show <id> | validate <file>] [options]",
    plain: list,
  });
  plans.command("list").description("list every plan").action(list);
  plans
    .command("show")
    .argument("<id>", "the plan's id")
    .description("show a plan as JSON")
    .action(async (id: string) => run(async (context) => (await import("./commands/plans.ts")).showPlan(context, id)));
  plans
    .command("validate")
    .argument("<file>", "a *.plan.json or *.plan.yaml")
    .description("name every problem of a plan file; exit 1 when it cannot run")
    .action(async (file: string) =>
      run(async (context) => (await import("./commands/plans.ts")).checkPlan(context, file)),
    );
}

function addBlobs(program: Command, run: Run): void {
  const blobs = group(program, "blobs", "read a large value", { words: ["get"], usage: "get <id> [-o <file>]" });
  blobs
    .command("get")
    .argument("<id>", "the blob's id")
    .description("write a blob's bytes to stdout or a file")
    .option("-o, --output <file>", "the file to write")
    .action(async (id: string, { output }: { output?: string }) =>
      run(async (context) => (await import("./commands/blobs.ts")).getBlob(context, id, output)),
    );
}

function addLoops(program: Command, run: Run): void {
  type Flags = { owner?: string };
  const list = async (options: Flags) =>
    run(async (context) => (await import("./commands/loops.ts")).listLoops(context, options));
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
      run(async (context) => (await import("./commands/loops.ts")).showLoop(context, { id, ...options })),
    );
}

function addApprovals(program: Command, run: Run): void {
  type ListFlags = { state: string; limit: string; cursor?: string };
  const list = async (options: ListFlags) =>
    run(async (context) => (await import("./commands/approvals.ts")).listApprovals(context, options));
  const approvals = group(program, "approvals", "list calls that wait for your yes, look at one, answer", {
    words: ["list", "show", "approve", "deny", "grants", "revoke"],
    usage: "[list | show <id> | approve <id> | deny <id> | grants | revoke <tool>] [options]",
    plain: () => list({ state: "pending", limit: "50" }),
  });
  approvals
    .command("list")
    .description("list them, newest first")
    .option("--state <word>", "pending, approved, denied, expired, withdrawn or all", "pending")
    .option("--limit <n>", "how many at most", "50")
    .option("--cursor <text>", "go on where an earlier list ended")
    .action(list);
  approvals
    .command("show")
    .argument("<id>", "the approval's id")
    .description("show what exactly would be called, and why you are asked")
    .action(async (id: string) =>
      run(async (context) => (await import("./commands/approvals.ts")).showApproval(context, id)),
    );
  const decide =
    (decision: "approve" | "deny") => async (id: string, options: { remember?: string; feedback?: string }) =>
      run(async (context) =>
        (await import("./commands/approvals.ts")).decideApproval(context, { id, decision, ...options }),
      );
  approvals
    .command("approve")
    .argument("<id>", "the approval's id")
    .description("let the call be made, and follow its session live")
    .option("--remember <what>", "tool or server: do not ask again while it stays as it is")
    .option("--feedback <text>", "kept with your answer")
    .action(decide("approve"));
  approvals
    .command("deny")
    .argument("<id>", "the approval's id")
    .description("refuse the call; its step fails with what you say")
    .option("--feedback <text>", "why, and what to do instead: whoever wanted the call is told")
    .action(decide("deny"));
  approvals
    .command("grants")
    .description("list the tools that are called without asking, because somebody allowed them for good")
    .option("--limit <n>", "how many at most", "100")
    .option("--cursor <text>", "go on where an earlier list ended")
    .action(async (options: { limit: string; cursor?: string }) =>
      run(async (context) => (await import("./commands/grants.ts")).listGrants(context, options)),
    );
  approvals
    .command("revoke")
    .argument("<tool>", "the tool's id")
    .description("ask about a tool again that was allowed for good")
    .action(async (tool: string) =>
      run(async (context) => (await import("./commands/grants.ts")).revokeGrant(context, tool)),
    );
}

function addServe(program: Command, run: Run): void {
  program
    .command("serve")
    .description("serve the API; prints one line `ready http://HOST:PORT` when it accepts requests")
    .option("--port <n>", "the port; 0 picks a free one (default 8000)")
    .option("--host <name>", "the address to listen on (default 127.0.0.1)")
    .option("--token <token>", "the first token; else ERGON_TOKEN, else the one in the data folder")
    .option("--gateway", "show the tools, resources and prompts of the MCP servers to MCP clients, too")
    .action(async (options: { port?: string; host?: string; token?: string; gateway?: boolean }) =>
      run(async (context) => (await import("./commands/serve.ts")).serve(context, options)),
    );
}

/** The sub-agent's own process; Ergon starts it, nobody else. */
function addSubAgent(program: Command, run: Run): void {
  program
    .command("subagent", { hidden: true })
    .action(() => run(async (context) => (await import("./commands/subagent.ts")).serveOrders(context)));
}

function addSandbox(program: Command, run: Run): void {
  program
    .command("sandbox")
    .description("serve the sandbox alone, for Ergons elsewhere; Ergon starts its own when it needs one")
    .option("--port <n>", "the port; 0 picks a free one (default 0)")
    .option("--host <name>", "the address to listen on (default 127.0.0.1)")
    .option("--token <token>", "what callers come in with; else ERGON_SANDBOX_TOKEN, else a new one")
    .addOption(new Option("--attached", "end with stdin").hideHelp())
    .action(async (options: { port?: string; host?: string; token?: string; attached?: boolean }) =>
      run(async (context) => (await import("./commands/sandbox.ts")).serveCode(context, options)),
    );
}

function addMcp(program: Command, run: Run): void {
  const mcp = program
    .command("mcp")
    .description("serve MCP on stdin and stdout, for a client that starts it")
    .argument("[words...]")
    .usage("[install --client <name>] [options]")
    .option("--name <name>", "act as stdio:NAME, the same at every start; else a new principal each time")
    .option("--gateway", "show the tools, resources and prompts of the MCP servers, too")
    .action(async ([word]: readonly string[], options: { name?: string; gateway?: boolean }) => {
      if (word !== undefined) throw await unknownCommand(`mcp ${word}`, word, ["install"]);
      await run(async (context) => (await import("./commands/mcp.ts")).serveMcp(context, options));
    });
  mcp
    .command("install")
    .description("write Ergon into a client's configuration; keeps a copy of what was there")
    .option("--client <name>", "claude, claude-code, cursor or vscode")
    .option("--file <path>", "the configuration file, where it is not the usual one")
    .option("--print", "show the entry instead of writing it")
    .action(async (options: { client?: string; file?: string; print?: boolean }) => {
      const { data, capabilities } = program.opts<GlobalFlags>();
      const flags = {
        ...(data === undefined ? {} : { data }),
        ...(capabilities === undefined ? {} : { capabilities }),
      };
      await run(async (context) =>
        (await import("./commands/mcp-install.ts")).installMcp(context, { ...options, ...flags }),
      );
    });
}

function addTokens(program: Command, run: Run): void {
  const list = async () => run(async (context) => (await import("./commands/token.ts")).listTokens(context));
  const token = group(program, "token", "make tokens for others, list them, revoke one", {
    words: ["add", "list", "revoke"],
    usage: "[add <name> | list | revoke <name>] [options]",
    plain: list,
  });
  token
    .command("add")
    .argument("<name>", "who will hold it; what they make belongs to this name")
    .description("make a token and show it, this once")
    .option("--scope <scope>", "agent, or person to also approve and change tokens", "agent")
    .action(async (name: string, { scope }: { scope: string }) =>
      run(async (context) => (await import("./commands/token.ts")).addToken(context, { name, scope })),
    );
  token.command("list").description("list the tokens beside the first one").action(list);
  token
    .command("revoke")
    .argument("<name>", "whose token")
    .description("revoke a token; it opens nothing from now on")
    .action(async (name: string) =>
      run(async (context) => (await import("./commands/token.ts")).revokeToken(context, name)),
    );
}

/** A command with words of its own below it; alone it does `plain`, and a word that it does not know is named. */
function group(
  program: Command,
  name: string,
  description: string,
  parts: { readonly words: readonly string[]; readonly usage: string; readonly plain?: () => Promise<void> },
): Command {
  return program
    .command(name)
    .description(description)
    .argument("[words...]")
    .usage(parts.usage)
    .action(async ([word]: readonly string[]) => {
      if (word === undefined && parts.plain !== undefined) return parts.plain();
      const given = word === undefined ? name : `${name} ${word}`;
      throw await unknownCommand(given, word ?? "", parts.words);
    });
}

function addServers(program: Command, run: Run): void {
  const command = (start: (commands: ServerCommands, context: CommandContext) => Promise<ExitCode>) =>
    run(async (context) => start(await import("./commands/servers.ts"), context));
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
  const collect = (given: string, earlier: readonly string[] = []) => [...earlier, given];
  servers
    .command("add")
    .argument("<id>", "a short name; its tools are called <id>_<tool>")
    .argument("[command...]", "after --: the command that starts it, with its arguments")
    .description("add a server to the configuration and start it")
    .usage("<id> [options] (-- <command...> | --url <url>)")
    .option("--url <url>", "reach it over HTTP instead of starting it")
    .option("--name <name>", "what its tools' names begin with, if not the id")
    .option(
      "--env <name=value>",
      "a variable for it; may be repeated; \\${NAME} takes it from the environment",
      collect,
    )
    .option("--header <name:value>", "a header for --url; may be repeated", collect)
    .option("--cwd <dir>", "the folder it is started in")
    .option("--timeout-ms <n>", "how long it may take to start, and to answer")
    .option("--trusted", "believe what it says of its tools: which only read, which may be repeated")
    .option("--disabled", "keep it, and do not start it")
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
        run(async (context) => (await import("./commands/servers-login.ts"))[`${name}Server`](context, id)),
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
      run(async (context) => (await import("./commands/servers-search.ts")).searchServers(context, words, options)),
    );
}

function addDoctor(program: Command, run: Run): void {
  program
    .command("doctor")
    .description("show every setting, where it came from, and what is wrong; exit 1 when something is")
    .action(async () => run(async (context) => (await import("./commands/doctor.ts")).examine(context)));
}

async function unknownCommand(given: string, word: string, known: readonly string[]): Promise<ErgonError> {
  const { didYouMean, usageError } = await import("@ergon/core");
  return usageError("usage", `There is no command "ergon ${given}".${didYouMean(word, known)}`, { details: { known } });
}

/** Commander's sentences, in our form: the first line says what is wrong, the second what was meant. */
async function usageFrom(error: CommanderError): Promise<ErgonError> {
  const { usageError } = await import("@ergon/core");
  const [first = "", suggestion = ""] = error.message.split("\n");
  const sentence = first.replace(/^error: /, "");
  const meant = suggestion.replace(/^\((.*)\)$/, " $1");
  return usageError("usage", `${sentence.charAt(0).toUpperCase()}${sentence.slice(1).replace(/\.$/, "")}.${meant}`);
}
