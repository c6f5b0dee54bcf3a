import type { ErgonError } from "@ergon/core";
import { Command, CommanderError } from "commander";
import type { CommandContext } from "./command-context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { LATER_COMMANDS } from "./later-commands.ts";

export type GlobalFlags = {
  readonly json?: boolean;
  readonly data?: string;
  readonly capabilities?: readonly string[];
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
  addDoctor(program, run);
  for (const name of LATER_COMMANDS) addLater(program, name);
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.help") program.outputHelp();
    else if (error.exitCode !== 0) throw await usageFrom(error);
  }
  return exit;
}

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
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: write, writeErr: () => undefined })
    .exitOverride()
    .addHelpText("after", () => `\nIn a later version: ${LATER_COMMANDS.join(", ")}.\n${EXAMPLES}`);
}

const EXAMPLES = `
Examples:
  ergon tools                                          what there is to call
  ergon tools show demo::greet                         what it takes and gives
  ergon tools call demo::greet --args '{"who":"Ada"}'  call it
  ergon doctor                                         every setting, and what is wrong`;

function addTools(program: Command, run: Run): void {
  const tools = program
    .command("tools")
    .description("list tools, show one, call one")
    .argument("[command]")
    .usage("[list | show <id> | call <id>] [options]")
    .action(async (word: string | undefined) => {
      if (word !== undefined) throw await unknownCommand(`tools ${word}`, word, ["list", "show", "call"]);
      await run(async (context) => (await import("./commands/tools-list.ts")).listTools(context));
    });
  tools
    .command("list")
    .description("list every tool with what it may do to the world")
    .action(async () => run(async (context) => (await import("./commands/tools-list.ts")).listTools(context)));
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

function addDoctor(program: Command, run: Run): void {
  program
    .command("doctor")
    .description("show every setting, where it came from, and what is wrong; exit 1 when something is")
    .action(async () => run(async (context) => (await import("./commands/doctor.ts")).examine(context)));
}

function addLater(program: Command, name: string): void {
  program
    .command(name, { hidden: true })
    .allowUnknownOption()
    .allowExcessArguments()
    .helpOption(false)
    .action(async () => {
      const { usageError } = await import("@ergon/core");
      throw usageError("not_available", `"ergon ${name}" comes in a later version.`, { details: { command: name } });
    });
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
