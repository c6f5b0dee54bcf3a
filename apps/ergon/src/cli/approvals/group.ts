import type { Command } from "commander";
import { group, type Run } from "../command-group.ts";

export function addApprovals(program: Command, run: Run): void {
  type ListFlags = { state: string; limit: string; cursor?: string };
  const list = async (options: ListFlags) =>
    run(async (context) => (await import("./approvals.ts")).listApprovals(context, options));
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
    .action(async (id: string) => run(async (context) => (await import("./approvals.ts")).showApproval(context, id)));
  const decide =
    (decision: "approve" | "deny") => async (id: string, options: { remember?: string; feedback?: string }) =>
      run(async (context) => (await import("./approvals.ts")).decideApproval(context, { id, decision, ...options }));
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
      run(async (context) => (await import("./grants.ts")).listGrants(context, options)),
    );
  approvals
    .command("revoke")
    .argument("<tool>", "the tool's id")
    .description("ask about a tool again that was allowed for good")
    .action(async (tool: string) => run(async (context) => (await import("./grants.ts")).revokeGrant(context, tool)));
}
