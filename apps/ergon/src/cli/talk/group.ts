import type { Command } from "commander";
import type { Run } from "../command-group.ts";

export function addAsk(program: Command, run: Run): void {
  program
    .command("ask")
    .argument("<message>", "what you want, in your own words")
    .description("plan it with the tools there are, run the plan live, and sum up")
    .option("--mode <mode>", "whom the answer is for: analyst, candidate, hiring or general", "general")
    .option("--session <id>", "go on in this session: it remembers what was said and found")
    .action(async (message: string, options: { mode: string; session?: string }) =>
      run(async (context) => (await import("./ask.ts")).ask(context, { message, ...options })),
    );
}

export function addChat(program: Command, run: Run): void {
  program
    .command("chat")
    .description("talk; answers, approvals and energy are shown as they come (/help inside says more)")
    .option("--conversation <id>", "go on with this conversation")
    .option("--budget <units>", "the energy that it should get by with")
    .action(async (options: { conversation?: string; budget?: string }) =>
      run(async (context) => (await import("./chat.ts")).chat(context, options)),
    );
  program
    .command("energy")
    .description("show the energy that conversations live on, and what the loop is busy with")
    .action(async () => run(async (context) => (await import("./energy.ts")).showEnergy(context)));
}
