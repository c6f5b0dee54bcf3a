import type { Command } from "commander";
import type { Run } from "../command-group.ts";

export function addRuns(program: Command, run: Run): void {
  program
    .command("run")
    .argument("<plan>", "a plan's id, or a plan file")
    .description("run a plan and follow it live; prints the session's id")
    .option("--input <json>", "the plan's input: a JSON object, @file, or - for stdin", "{}")
    .option(
      "--id <id>",
      "your id of the run: typed again with the same plan and input, it follows the run that is there",
    )
    .option("--dry-run", "only say what it would do, with made-up values: nothing is called, asked or kept")
    .action(async (plan: string, { input, id, dryRun }: { input: string; id?: string; dryRun?: boolean }) =>
      run(async (context) => {
        const { dryRunPlan, runPlan } = await import("./run.ts");
        return dryRun === true ? dryRunPlan(context, { plan, input }) : runPlan(context, { plan, input, id });
      }),
    );
  program
    .command("resume")
    .argument("<session>", "the session's id")
    .description("answer what a session waits for, and follow it live")
    .option("--step <id>", "which wait, when several are open: a step's id or a wait's path")
    .option("--input <json>", "the answer: JSON, @file, or - for stdin")
    .action(async (sessionId: string, options: { step?: string; input?: string }) =>
      run(async (context) => (await import("./resume.ts")).resumeSession(context, { sessionId, ...options })),
    );
  program
    .command("cancel")
    .argument("<session>", "the session's id")
    .description("cancel a session")
    .action(async (sessionId: string) =>
      run(async (context) => (await import("./cancel.ts")).cancelSession(context, sessionId)),
    );
}

export function addFork(program: Command, run: Run): void {
  program
    .command("fork")
    .argument("<session>", "the session's id")
    .description("start a new session from a step of this one, with context and history as they were then")
    .requiredOption("--from <step>", "a top-level step of its plan that has begun")
    .option("--input <json>", "another input for the plan: a JSON object, @file, or - for stdin")
    .option("--repeat-once", 'also where a call of effects "once" would be made again')
    .action(async (sessionId: string, options: { from: string; input?: string; repeatOnce?: boolean }) =>
      run(async (context) => {
        const { from: fromStep, input, repeatOnce = false } = options;
        return (await import("./fork.ts")).forkSession(context, { sessionId, fromStep, input, repeatOnce });
      }),
    );
}
