import type { ErgonError } from "@ergon/core";
import { Command, CommanderError } from "commander";
import type { CommandContext } from "./command-context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { addApprovals } from "./approvals/group.ts";
import { addBlobs } from "./blobs/group.ts";
import { collect, type GlobalFlags, type Run } from "./command-group.ts";
import { addLoops } from "./loops/group.ts";
import { addPlans } from "./plans/group.ts";
import { addProject } from "./project/group.ts";
import { addFork, addRuns } from "./runs/group.ts";
import { addServers } from "./servers/group.ts";
import { addMcp, addSandbox, addServe, addSubAgent } from "./serving/group.ts";
import { addSessions } from "./sessions/group.ts";
import { addAsk, addChat } from "./talk/group.ts";
import { addTokens } from "./tokens/group.ts";
import { addTools } from "./tools/group.ts";

export type ProgramOptions = {
  readonly version: string;
  readonly write: (text: string) => void;
  /** Called by the command that runs, with the global flags that were given. */
  readonly context: (flags: GlobalFlags) => CommandContext;
};

/** Runs one command line. What is not run is not loaded: each action imports its command. */
export async function runProgram(argv: readonly string[], options: ProgramOptions): Promise<ExitCode> {
  let exit: ExitCode = EXIT.ok;
  const program = createProgram(options, argv.includes("--json"));
  const run: Run = async (start) => {
    exit = await start(options.context(program.opts<GlobalFlags>()));
  };
  const named = commandIn(argv, program);
  for (const add of GROUPS) {
    add(program, run);
    if (program.commands.some((command) => command.name() === named)) break;
  }
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.help") program.outputHelp();
    else if (error.exitCode !== 0) throw await usageFrom(error);
  }
  return exit;
}

/** In the order of the help text. They are declared up to the one that has the command: help and typing errors need all. */
const GROUPS: readonly ((program: Command, run: Run) => void)[] = [
  addTools,
  addAsk,
  addChat,
  addRuns,
  addFork,
  addSessions,
  addPlans,
  addBlobs,
  addLoops,
  addApprovals,
  addServe,
  addSandbox,
  addSubAgent,
  addMcp,
  addServers,
  addTokens,
  addProject,
  addTrust,
  addDoctor,
];

/** The first word that is neither one of the program's own options nor the value of one. */
function commandIn(argv: readonly string[], { options }: Command): string | undefined {
  let isValue = false;
  return argv.find((word) => {
    const wasValue = isValue;
    isValue = !wasValue && options.some((option) => option.required && option.long === word);
    return !wasValue && !word.startsWith("-");
  });
}

function createProgram({ version, write }: ProgramOptions, json: boolean): Command {
  return new Command("ergon")
    .description("An agent runtime for MCP: tools, plans, durable runs, an energy budget.")
    .version(json ? JSON.stringify({ version }) : `ergon ${version}`, "--version", "show the version")
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

function addTrust(program: Command, run: Run): void {
  program
    .command("trust")
    .argument("<dir>", "a data folder that your Ergon does not know, or a project with ergon.config.json")
    .description("show what is in a data folder or a project's settings, and use it from now on when it is found")
    .option("--dry-run", "only show what is in it")
    .action(async (folder: string, options: { dryRun?: boolean }) =>
      run(async (context) => (await import("./serving/trust.ts")).trust(context, folder, options)),
    );
}

function addDoctor(program: Command, run: Run): void {
  program
    .command("doctor")
    .description("show every setting, where it came from, and what is wrong; exit 1 when something is")
    .action(async () => run(async (context) => (await import("./serving/doctor.ts")).examine(context)));
}

/** Commander's sentences, in our form: the first line says what is wrong, the second what was meant. */
async function usageFrom(error: CommanderError): Promise<ErgonError> {
  const { usageError } = await import("@ergon/core/schema");
  const [first = "", suggestion = ""] = error.message.split("\n");
  const sentence = first.replace(/^error: /, "");
  const meant = suggestion.replace(/^\((.*)\)$/, " $1");
  return usageError("usage", `${sentence.charAt(0).toUpperCase()}${sentence.slice(1).replace(/\.$/, "")}.${meant}`);
}
