import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { printable } from "../output/printable.ts";
import { table } from "../output/table.ts";
import { LOOK, orEmpty, throughOwner } from "../../workspace/through-owner.ts";

export type LoopOptions = { readonly owner?: string };

export async function listLoops(
  { terminal, compose }: CommandContext,
  { owner = FIRST_PRINCIPAL }: LoopOptions,
): Promise<ExitCode> {
  const app = await compose();
  try {
    const items = await orEmpty(
      throughOwner(app, LOOK, ({ loops }) => loops.list({ owner })),
      [],
    );
    if (terminal.json) {
      terminal.printJson({ items });
      return EXIT.ok;
    }
    if (items.length === 0)
      terminal.note(`No refinement loops of ${printable(owner)}. ${whereTheyLive(app.settings.values.loopStore)}`);
    else {
      const rows = items.map(({ id, status, score, iteration = 0, message = "" }) => [
        id,
        status,
        score === undefined ? "-" : String(score),
        String(iteration),
        message,
      ]);
      const header = ["LOOP", "STATUS", "SCORE", "REFINED", ""];
      terminal.print(table(rows, { columns: terminal.columns, header }));
    }
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

export async function showLoop(
  { terminal, compose }: CommandContext,
  { id, owner = FIRST_PRINCIPAL }: LoopOptions & { readonly id: string },
): Promise<ExitCode> {
  const app = await compose();
  try {
    const loop = await throughOwner(app, LOOK, ({ loops }) => loops.read({ owner, loop_id: id }));
    if (terminal.json) {
      terminal.printJson(loop);
      return EXIT.ok;
    }
    const { bold, dim } = terminal.colors;
    terminal.print(`${bold(loop.id)}  ${loop.loop_type}  ${loop.status}  ${dim(`made ${loop.created_at}`)}`);
    terminal.print(`  scores: ${loop.score_history.length === 0 ? "none yet" : loop.score_history.join(" → ")}`);
    terminal.print(`  refined: ${loop.iteration}`);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

function whereTheyLive(store: "memory" | "sqlite"): string {
  if (store === "sqlite") return "An MCP client begins one with initialize_refinement_loop.";
  return "They live as long as the process that keeps them; ERGON_LOOP_STORE=sqlite keeps them longer.";
}
