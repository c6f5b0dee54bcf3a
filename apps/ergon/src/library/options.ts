import type { AgenticPlan, ChatModel, Logger } from "@ergon/core";
import { planError, usageError } from "@ergon/core/schema";
import type { PolicyAnswer, PolicyQuestion, ToolForm, ToolPolicy } from "@ergon/core/engine";
import { readPlan } from "./read-plan.ts";

export type OpenErgonOptions = {
  /** The data folder, `./.ergon` by default; "memory" keeps nothing and makes no files. */
  readonly data?: string;
  readonly tools?: readonly ToolForm[];
  readonly plans?: readonly (AgenticPlan | Readonly<Record<string, unknown>>)[];
  /** Folders with tools, actions and plans. Their code runs with the rights of this process. */
  readonly capabilities?: readonly string[];
  /** Names of bundled packs; none is loaded by default. */
  readonly packs?: readonly string[];
  /** A name as in ERGON_MODEL, or a model of the program's own. */
  readonly model?: string | ChatModel;
  /** Which calls need a person's yes; what it answers with undefined is decided by the defaults. */
  readonly policy?: ProgramPolicy;
  /** The configuration of MCP servers, `./mcp-servers.json` by default. */
  readonly mcpConfig?: string;
  /** JSON lines on stderr by default. */
  readonly logger?: Logger;
};

export type ProgramPolicy = (question: PolicyQuestion) => PolicyAnswer | undefined | Promise<PolicyAnswer | undefined>;

/** What a program brings that no setting can hold. */
export type ProgramParts = {
  readonly tools: readonly ToolForm[];
  readonly plans: readonly AgenticPlan[];
  readonly packs: readonly string[];
  readonly isMemory: boolean;
  readonly model?: ChatModel;
  readonly logger?: Logger;
  readonly policy: (usual: ToolPolicy) => ToolPolicy;
};

const KNOWN: Readonly<Record<keyof OpenErgonOptions, true>> = {
  data: true,
  tools: true,
  plans: true,
  capabilities: true,
  packs: true,
  model: true,
  policy: true,
  mcpConfig: true,
  logger: true,
};

export function programParts(options: OpenErgonOptions): ProgramParts {
  const unknown = Object.keys(options).filter((name) => !Object.hasOwn(KNOWN, name));
  if (unknown.length > 0) {
    const named = unknown.map((name) => `"${name}"`).join(", ");
    throw usageError("input_invalid", `openErgon has no option ${named}. It has: ${Object.keys(KNOWN).join(", ")}.`);
  }
  const { data, tools = [], packs = [], model, logger, policy } = options;
  return {
    tools,
    plans: readPlans(options.plans ?? []),
    packs,
    isMemory: data === "memory",
    ...(typeof model === "object" ? { model } : {}),
    ...(logger === undefined ? {} : { logger }),
    policy: (usual) =>
      policy === undefined ? usual : async (question) => (await policy(question)) ?? (await usual(question)),
  };
}

function readPlans(given: readonly unknown[]): readonly AgenticPlan[] {
  const plans = given.map(readPlan);
  const ids = plans.map(({ planId }) => planId);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice === undefined) return plans;
  throw planError("plan_invalid", `Two of the plans have the id "${twice}"; each id stands once.`);
}
