import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ErgonError } from "@ergon/core";
import { FIRST_PRINCIPAL } from "@ergon/node";
import { createErgon, type Ergon } from "../library/ergon.ts";
import { type OpenErgonOptions, programParts } from "../library/options.ts";
import { checkSettings } from "../services/check-settings.ts";
import { compose, type ComposeOptions } from "./compose.ts";

/** Opens a data folder for a program: this process owns it, and takes up the unfinished runs in it. */
export async function openProgram(
  options: OpenErgonOptions,
  from: Pick<ComposeOptions, "home" | "version">,
): Promise<Ergon> {
  const program = programParts(options);
  const { model, capabilities, mcpConfig } = options;
  // Nothing lies there; a tool that has to keep a file makes it, and it goes with the program.
  const memory = join(tmpdir(), `ergon-${randomUUID()}`);
  const data = program.isMemory ? memory : options.data;
  let lost: ErgonError | undefined;
  const warnings: string[] = [];
  let warn = (line: string): void => void warnings.push(line);
  const app = compose({
    ...from,
    program,
    flags: {
      ...(data === undefined ? {} : { data }),
      ...(capabilities === undefined ? {} : { capabilities }),
      ...(mcpConfig === undefined ? {} : { mcpConfig }),
      ...(typeof model === "string" ? { model } : {}),
      ...(program.isMemory ? { store: "memory:" } : {}),
    },
    stopping: new AbortController().signal,
    note: (line) => warn(line),
    fatal: (error) => {
      lost = error;
    },
  });
  warn = (line) => app.logger.warn({}, line);
  warnings.forEach(warn);
  const close = async (): Promise<void> => {
    try {
      await app.close();
    } finally {
      if (program.isMemory) await rm(memory, { recursive: true, force: true });
    }
  };
  try {
    app.checkFolder();
    checkSettings(app.settings, { warn });
    for (const problem of (await app.capabilities()).problems)
      app.logger.warn(problem, "A capability file was left out.");
    for (const problem of (await app.plans()).problems) app.logger.warn(problem, "A plan file was left out.");
    const { engine, approvals } = await app.enter({ recover: true, owns: true });
    return createErgon({ engine, approvals, owner: FIRST_PRINCIPAL, lost: () => lost, close });
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
