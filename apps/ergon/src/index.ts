// The library's entry. What it does is loaded when it is first used: a file that only defines a tool stays light.
import manifest from "../package.json" with { type: "json" };
import type { Ergon } from "./library/ergon.ts";
import type { OpenErgonOptions } from "./library/options.ts";
import type { ConnectErgonOptions } from "./compose/connect-ergon.ts";

/**
 * Opens a data folder (or memory) for this process. Unfinished runs go on by themselves. Throws `folder_owned` with the pid and
 * the address of another process that owns the folder, and `folder_untrusted`.
 */
export async function openErgon(options: OpenErgonOptions = {}): Promise<Ergon> {
  const { openProgram } = await import("./compose/open-program.ts");
  return openProgram(options, { home: import.meta.dirname, version: manifest.version });
}

/** The same methods through the HTTP API of a server. Throws `unauthorized`, `owner_gone`, `not_ergon`. */
export async function connectErgon(options: ConnectErgonOptions): Promise<Ergon> {
  return (await import("./compose/connect-ergon.ts")).connectErgon(options);
}

export { z } from "zod";
export {
  type AgenticPlan,
  type Approval,
  defineAction,
  defineTool,
  ErgonError,
  isErgonError,
  type Json,
  type JsonObject,
  type SessionCore,
  type StoredEvent,
  type ToolRun,
} from "@ergon/core";
export type { SessionView, TypedTool } from "@ergon/core/engine";
export type { DecidedApproval } from "@ergon/core/schema";
export { definePlan, type PlanTool } from "./library/define-plan.ts";
export type { ConnectErgonOptions } from "./compose/connect-ergon.ts";
export type { ApprovalQuery, ApproveOptions, Ergon, RunQuery } from "./library/ergon.ts";
export type { OpenErgonOptions, ProgramPolicy } from "./library/options.ts";
export type { EventOptions, ForkRun, ResumeRun, Run, RunState } from "./library/run.ts";
