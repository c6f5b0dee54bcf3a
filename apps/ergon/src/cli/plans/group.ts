import type { Command } from "commander";
import { group, type Run } from "../command-group.ts";

export function addPlans(program: Command, run: Run): void {
  const list = async () => run(async (context) => (await import("./plans.ts")).listPlans(context));
  const plans = group(program, "plans", "list plans, show one, check a file", {
    words: ["list", "show", "validate", "schema"],
    usage: "[list | show <id> | validate <file> | schema] [options]",
    plain: list,
  });
  plans.command("list").description("list every plan").action(list);
  plans
    .command("show")
    .argument("<id>", "the plan's id")
    .description("show a plan as JSON")
    .action(async (id: string) => run(async (context) => (await import("./plans.ts")).showPlan(context, id)));
  plans
    .command("validate")
    .argument("<file>", "a *.plan.json or *.plan.yaml")
    .description("name every problem of a plan file; exit 1 when it cannot run")
    .action(async (file: string) =>
      run(async (context) => (await import("./plans-validate.ts")).checkPlan(context, file)),
    );
  plans
    .command("schema")
    .description("print the JSON Schema of plan files, for editors")
    .action(async () => run(async (context) => (await import("./plans-schema.ts")).printPlanSchema(context)));
}
