import type { JsonObject } from "../schema/values/json.ts";
import type { ToolRun } from "./tool.ts";

export type AgentProgress = {
  /** Where in its work an action is: `load`, `compare`, … */
  readonly phase: string;
  /** For the person who waits. */
  readonly message: string;
  /** From 0 to 1, where it is known. */
  readonly fraction?: number;
  /** For the log alone. */
  readonly data?: JsonObject;
};

/** Spec 2's way for an action to say how far it is: structured in the log, live to whoever waits. Never throws. */
export function logAgentProgress(run: Pick<ToolRun, "logger" | "progress">, progress: AgentProgress): void {
  try {
    const { phase, message, fraction, data } = progress;
    run.logger.info({ phase, ...(fraction === undefined ? {} : { fraction }), ...(data && { data }) }, message);
    run.progress({ message, ...(fraction === undefined ? {} : { fraction }) });
  } catch {
    // Telling about the work must not break it.
  }
}
