import type { ConversationContext } from "../ports/conversation-memory.ts";
import type { Embedding } from "../ports/embedder.ts";
import type { Json, JsonObject } from "../schema/values/json.ts";
import type { PlannedAction } from "../schema/mcp-loop.ts";
import type { Mode } from "../schema/session.ts";
import type { Tool } from "../tools/tool.ts";
import type { ModelCall, Warning } from "./turn/trace.ts";

/** Spec 1: a plan has one to five tools. */
export const MAX_PLANNED_TOOLS = 5;

/** Everything a strategy may decide by. */
export type PlannerInput = {
  readonly message: string;
  readonly embeddedMessage?: Embedding;
  readonly mode: Mode;
  readonly sessionId: string;
  /** What the session holds, the loader's keys and the caller's. */
  readonly context: JsonObject;
  readonly conversation: ConversationContext;
  /** The tools of this run: for its mode, among those that the caller named. */
  readonly tools: readonly Tool[];
  readonly recommendations: readonly Json[];
  readonly signal?: AbortSignal;
  /** Into the run's trace. */
  readonly note: {
    readonly modelCall: (call: ModelCall) => void;
    readonly warning: (warning: Warning) => void;
    /** Tools by how likely they are meant, the likeliest first. */
    readonly ranking?: (toolIds: readonly string[]) => void;
  };
};

/** A plan, or with nothing to do the question that would help. */
export type PlannerAnswer = {
  readonly plan: readonly PlannedAction[];
  readonly question?: string;
  /** There is no tool for what is wanted: more than a question of which one. */
  readonly nothingFits?: boolean;
  /** The question answers the message: nothing more is asked for. */
  readonly isAnswer?: boolean;
  /** Which planner made it, where it is not the one that was asked. */
  readonly by?: string;
  /** What the person should know of how the plan was made. */
  readonly note?: string;
  /** What of the message the plan does not do, in words for the person. */
  readonly leftOut?: readonly string[];
};

/** The injectable strategy of spec 1. */
export type Planner = (
  input: PlannerInput,
) => readonly PlannedAction[] | PlannerAnswer | Promise<readonly PlannedAction[] | PlannerAnswer>;
