import type { Logger } from "../ports/logger.ts";
import type { JsonSchema } from "../schema/json.ts";
import type { Effects, ToolSummary } from "../schema/tool.ts";

/**
 * The one internal form of a tool. Specs 1, 2, 4 and 5 each have an authoring form; `adapt/` turns each into this.
 * What is needed to list, plan and preflight is here at once; what is needed to run comes from `body`, which may
 * load code at first call.
 */
export type Tool = Omit<ToolSummary, "estimatedEnergyUnits"> & {
  /** A fixed price; without it a call costs by its time. */
  readonly energyUnits?: number;
  readonly timeoutMs?: number;
  readonly usesAI: boolean;
  readonly parameters: JsonSchema;
  readonly effects: Effects;
  readonly body: () => ToolBody | Promise<ToolBody>;
};

export type ToolBody = {
  /** Step 1 to 3 of spec 2's flow: returns the validated args, coerced and defaulted by the schema, or all issues. */
  readonly validateArgs: (args: Readonly<Record<string, unknown>>) => Validated<Readonly<Record<string, unknown>>>;
  readonly validateOutput: (output: unknown) => Validated<unknown>;
  readonly defaultArgs?: (context: Readonly<Record<string, unknown>>) => Record<string, unknown>;
  readonly run: (call: ToolInvocation, run: ToolRun) => Promise<unknown>;
};

/** The three sources of spec 2, never mixed. */
export type ToolInvocation = {
  readonly args: Readonly<Record<string, unknown>>;
  readonly context: Readonly<Record<string, unknown>>;
  readonly infrastructure: Infrastructure;
};

export type Infrastructure = { readonly supabase?: unknown; readonly sessionId?: string };

/** What every tool function gets as its last argument. */
export type ToolRun = {
  readonly signal: AbortSignal;
  /** The same across automatic retries and crash recovery; a person's retry makes a new one. */
  readonly idempotencyKey: string;
  readonly progress: (update: ProgressUpdate) => void;
  readonly logger: Logger;
};

export type ProgressUpdate = { readonly fraction?: number; readonly message?: string };

export type Issue = { readonly path: string; readonly code: string; readonly message: string };
export type Validated<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly issues: readonly Issue[] };
