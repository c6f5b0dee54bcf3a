import type { EnergyState, ConversationsStatus } from "@ergon/core/schema";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { energyBar } from "../output/energy-bar.ts";
import { printable } from "../output/printable.ts";
import { LOOK, orEmpty, throughOwner } from "../../workspace/through-owner.ts";

export async function showEnergy({ terminal, compose }: CommandContext): Promise<ExitCode> {
  const app = await compose();
  try {
    const untouched = { energy: untouchedPool(app.settings.values.energyRate), status: IDLE };
    const { energy, status } = await orEmpty(
      throughOwner(app, LOOK, async ({ conversations }) => ({
        energy: await conversations.energy(),
        status: await conversations.status(),
      })),
      untouched,
    );
    if (terminal.json) {
      terminal.printJson({ ...energy, conversations: status });
      return EXIT.ok;
    }
    const { bold, dim } = terminal.colors;
    const rate = `${String(energy.replenishPerSecond)} a second while idle`;
    terminal.print(`${energyBar(energy.level)} ${bold(energy.level.toFixed(1))} ${energy.status}  ${dim(rate)}`);
    if (energy.reserved > 0) terminal.print(`  ${energy.reserved.toFixed(1)} promised to work under way`);
    const { waiting, working, snoozed } = status;
    terminal.print(
      `  conversations: ${String(working)} worked on, ${String(waiting)} waiting, ${String(snoozed)} snoozed`,
    );
    for (const sentence of status.degraded) terminal.print(`  ${printable(sentence)}`);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

const IDLE: ConversationsStatus = {
  running: false,
  waiting: 0,
  working: 0,
  snoozed: 0,
  planner: "",
  wakeMs: { p50: 0, p99: 0, max: 0 },
  degraded: [],
};

function untouchedPool(replenishPerSecond: number): EnergyState {
  return { level: 100, status: "high", reserved: 0, replenishPerSecond };
}
