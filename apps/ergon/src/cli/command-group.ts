import type { ErgonError } from "@ergon/core";
import type { Command } from "commander";
import type { CommandContext } from "./command-context.ts";
import type { ExitCode } from "./exit-codes.ts";

export type GlobalFlags = {
  readonly json?: boolean;
  readonly data?: string;
  readonly capabilities?: readonly string[];
  readonly mcpConfig?: string;
};

/** Runs what a command line asks for, with the program's own flags. */
export type Run = (start: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

export const collect = (given: string, earlier: readonly string[] = []): readonly string[] => [...earlier, given];

/** A command with words of its own below it; alone it does `plain`, and a word that it does not know is named. */
export function group(
  program: Command,
  name: string,
  description: string,
  parts: { readonly words: readonly string[]; readonly usage: string; readonly plain?: () => Promise<void> },
): Command {
  const command = program
    .command(name)
    .description(description)
    .argument("[words...]")
    .usage(parts.usage)
    .action(async ([word]: readonly string[]) => {
      if (word !== undefined) throw await unknownCommand(`${name} ${word}`, word, parts.words);
      if (parts.plain !== undefined) return parts.plain();
      command.outputHelp();
    });
  return command;
}

export async function unknownCommand(given: string, word: string, known: readonly string[]): Promise<ErgonError> {
  const [{ didYouMean }, { usageError }] = await Promise.all([import("@ergon/core"), import("@ergon/core/schema")]);
  return usageError("usage", `There is no command "ergon ${given}".${didYouMean(word, known)}`, { details: { known } });
}
