import type { AgenticPlan, ContextValuePointer, Json } from "@ergon/core";
import type { TypedTool } from "@ergon/core/engine";
import type { z } from "zod";
import { readPlan } from "./read-plan.ts";

/** A tool whose arguments are checked, or the id of one that is known only at run time. */
export type PlanTool = string | Pick<TypedTool, "name" | "input">;

/**
 * Writes a plan whose names are checked by the compiler: steps name steps of the plan, pointers into the context name a key
 * that a step saves, and with `tools` a tool call names one of them and its literal arguments fit. Throws `plan_invalid`
 * for what is no plan. Whether the plan works as a whole is checked when it starts.
 */
export function definePlan<const Given, const Tool extends PlanTool = string>(
  plan: Plan<StepField<Given, "id">, StepField<Given, "saveAs" | "itemAlias">, Tool> & Inferred<Given>,
  _options: { readonly tools?: readonly Tool[] } = {},
): AgenticPlan {
  return readPlan(plan);
}

/** Has the compiler infer the type of what was given, without asking anything of it. */
type Inferred<Given> = [Given] extends [never] ? Given : object;

/** What the steps of all lists have in a field. */
type StepField<Given, Field extends string> = Given extends { readonly steps: infer Steps }
  ? InSteps<Steps, Field>
  : never;

type InSteps<Steps, Field extends string> = Steps extends readonly (infer One)[]
  ? One extends unknown
    ?
        | Named<One, Field>
        | (One extends { readonly loopPlan: infer Nested } ? InSteps<Nested, Field> : never)
        | (One extends { readonly branches: readonly (infer Branch)[] } ? StepField<Branch, Field> : never)
    : never
  : never;

type Named<One, Field extends string> = Extract<One[keyof One & Field], string>;

type Plan<Id extends string, Key extends string, Tool extends PlanTool> = {
  readonly planId: string;
  readonly description?: string;
  /** A JSON Schema of the plan's input. */
  readonly parameters?: AgenticPlan["parameters"];
  readonly startStepId: Id;
  readonly steps: readonly Step<Id, Key, Tool>[];
};

type Step<Id extends string, Key extends string, Tool extends PlanTool> =
  | ToolCall<Id, Key, Tool>
  | ConditionalBranch<Id, Key>
  | ParallelBranch<Id, Key, Tool>
  | LoopOverItems<Id, Key, Tool>
  | HumanInTheLoop<Id, Key>
  | FinalResponse<Id, Key>;

type Common<Id extends string> = { readonly id: Id; readonly description?: string };

/** One form for each tool, so that the tool's id decides which arguments fit. */
type ToolCall<Id extends string, Key extends string, Tool extends PlanTool> = Tool extends PlanTool
  ? Common<Id> & {
      readonly type: "tool_call";
      readonly toolId: NoInfer<ToolIdOf<Tool>>;
      readonly arguments?: ArgumentsOf<Tool, Key>;
      readonly saveAs?: Key;
      readonly retry?: { readonly maxAttempts: number; readonly backoffMs?: number };
      readonly timeoutMs?: number;
      readonly optional?: boolean;
      readonly onError?: "pause" | "continue" | "fail";
      readonly alternatives?: readonly string[];
      readonly nextStepId?: Id;
    }
  : never;

type ToolIdOf<Tool extends PlanTool> = Tool extends { readonly name: infer Name extends string } ? Name : Tool;

type ArgumentsOf<Tool extends PlanTool, Key extends string> = Tool extends { readonly input: infer Input }
  ? Arguments<z.input<Input & z.ZodType>, Key>
  : { readonly [name: string]: Argument<Json, Key> };

type Arguments<Input, Key extends string> = { readonly [Name in keyof Input]: Argument<Input[Name], Key> };

/** A value as it is, or a pointer to one, at any depth. */
type Argument<Value, Key extends string> = Pointer<Key> | Literal<Value, Key>;

type Literal<Value, Key extends string> = Value extends readonly (infer Item)[]
  ? readonly Argument<Item, Key>[]
  : Value extends object
    ? Arguments<Value, Key>
    : Value;

type Pointer<Key extends string> = Omit<ContextValuePointer, "jsonPath"> & { readonly jsonPath: Path<Key> };

/** Into the plan's input, the history, or a key that a step saves; other keys of the context are written `$.context['key']`. */
type Path<Key extends string> =
  | `$.promptInput${string}`
  | `$.history${string}`
  | `$['${string}`
  | `$.context['${string}`
  | `$.context.${Key | `${Key}_index` | `${string}_result` | `${string}_error` | "human_input"}${"" | `${"." | "["}${string}`}`;

type ConditionalBranch<Id extends string, Key extends string> = Common<Id> & {
  readonly type: "conditional_branch";
  readonly condition: {
    readonly left: Argument<Json, Key>;
    readonly operator:
      | "equals"
      | "not_equals"
      | "greater_than"
      | "less_than"
      | "greater_or_equal"
      | "less_or_equal"
      | "exists"
      | "not_exists"
      | "contains"
      | "in"
      | "matches";
    readonly right?: Argument<Json, Key>;
  };
  readonly onTrue: { readonly nextStepId?: Id };
  readonly onFalse: { readonly nextStepId?: Id };
};

type ParallelBranch<Id extends string, Key extends string, Tool extends PlanTool> = Common<Id> & {
  readonly type: "parallel_branch";
  readonly branches: readonly { readonly steps: readonly Step<Id, Key, Tool>[] }[];
  readonly concurrency?: number;
  readonly nextStepId?: Id;
};

type LoopOverItems<Id extends string, Key extends string, Tool extends PlanTool> = Common<Id> & {
  readonly type: "loop_over_items";
  readonly collectionPath: Pointer<Key>;
  readonly itemAlias: Key;
  readonly loopPlan: readonly Step<Id, Key, Tool>[];
  readonly concurrency?: number;
  readonly nextStepId?: Id;
};

type HumanInTheLoop<Id extends string, Key extends string> = Common<Id> & {
  readonly type: "human_in_the_loop";
  readonly message: string;
  /** A JSON Schema of the answer. */
  readonly inputSchema?: AgenticPlan["parameters"];
  readonly saveAs?: Key;
  readonly nextStepIdOnInput?: Id;
};

type FinalResponse<Id extends string, Key extends string> = Common<Id> & {
  readonly type: "final_response";
  readonly message: string | Pointer<Key>;
};
