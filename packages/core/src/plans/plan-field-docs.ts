// What the JSON Schema of a plan says of each field. Kept apart from the schema, which every process loads.
import type { Json } from "../schema/values/json.ts";

/** A description, then examples. */
export type FieldDoc = readonly [description: string, ...examples: Json[]];

export const TYPE_DOCS: Readonly<Record<string, string>> = {
  AgenticPlan: "A durable workflow: its steps call tools, branch, loop, ask a person, and end with a response.",
  PlanStep: "One step of a plan. Its type decides which other fields it has.",
  ToolCallStep: "Calls a tool. The result goes to context['<toolId>_result'] and to saveAs.",
  ConditionalBranchStep: "Compares two values and continues with one of two steps of the same list.",
  ParallelBranchStep: "Runs lists of steps side by side and continues when all of them have ended.",
  LoopOverItemsStep: "Runs a list of steps once for each item of an array.",
  HumanInTheLoopStep:
    "Asks a person and waits, for days if need be. The answer goes to context.human_input and to saveAs.",
  FinalResponseStep: "Ends the plan with a response. Allowed at the top level only.",
  ContextValuePointer:
    "A value that is read when the step runs: a JSONPath (RFC 9535) into $.context, $.history or $.promptInput.",
  Condition: "Compares left with right. Either side is a value or a pointer.",
  RetryPolicy: "Repeats a failed call if its error is retryable. All attempts share one idempotency key.",
};

const nextStepId: FieldDoc = [
  "The step of the same list that follows. Without it the list ends: the branch, the loop turn or the plan.",
  "done",
];
const saveAs: FieldDoc = [
  'The context key that gets the result, read with {"jsonPath": "$.context.<key>"}.',
  "greeting",
];
const concurrency = (unit: string, byDefault: number): FieldDoc => [
  `How many ${unit} run at once. Default: ${String(byDefault)}.`,
  4,
];

export const FIELD_DOCS: Readonly<Record<string, Readonly<Record<string, FieldDoc>>>> = {
  AgenticPlan: {
    $schema: ["The JSON Schema of this file, for editors.", "./node_modules/ergon/plan.schema.json"],
    planId: ["The name that starts the plan: ergon run <planId>.", "greet-all"],
    description: ["What the plan does, for people and models that choose a plan.", "Greets everyone on a list."],
    parameters: [
      "JSON Schema of the plan's input. The input is checked before the first step, and read as $.promptInput.",
      { type: "object", properties: { names: { type: "array", items: { type: "string" } } }, required: ["names"] },
    ],
    startStepId: ["The first step. It is one of the plan's own steps.", "greet"],
    steps: [
      "The steps of the plan. Ids are unique in the whole plan, nested lists included.",
      [{ id: "done", type: "final_response", message: "Hello" }],
    ],
  },
  // Fields that every step has.
  PlanStep: {
    id: ["The step's id, unique in the whole plan.", "greet"],
    type: ["The kind of step.", "tool_call"],
    description: ["What the step is for.", "Greets one person."],
    nextStepId,
  },
  ToolCallStep: {
    toolId: ["The tool to call: an id that `ergon tools` lists.", "demo::greet"],
    arguments: [
      'The tool\'s arguments. A {"jsonPath"} object anywhere in them is replaced by the value that it points to.',
      { who: { jsonPath: "$.promptInput.name" } },
    ],
    saveAs,
    retry: ["How often a failed call is repeated.", { maxAttempts: 3, backoffMs: 500 }],
    timeoutMs: ["The call's time limit in milliseconds.", 30_000],
    optional: ["Whether the supervisor may skip the step if it fails.", true],
    onError: [
      "If the call has failed for good: pause waits for the supervisor or a person, continue stores the error in context['<saveAs or toolId>_error'] and continues, fail ends the run. Default: pause.",
      "continue",
    ],
    alternatives: ["Tools with compatible arguments that the supervisor may call instead.", ["demo::greet-formally"]],
  },
  ConditionalBranchStep: {
    condition: [
      "The comparison that decides.",
      { left: { jsonPath: "$.context.score" }, operator: "greater_than", right: 80 },
    ],
    onTrue: ["Where the plan continues if the condition holds. {} ends the list.", { nextStepId: "publish" }],
    onFalse: ["Where the plan continues if the condition does not hold. {} ends the list.", { nextStepId: "revise" }],
  },
  ParallelBranchStep: {
    branches: [
      "The branches. Each starts with its first step and sees the context as it was before the step.",
      [{ steps: [{ id: "greet-ada", type: "tool_call", toolId: "demo::greet", arguments: { who: "Ada" } }] }],
    ],
    concurrency: concurrency("branches", 8),
  },
  LoopOverItemsStep: {
    collectionPath: ["Points to the array.", { jsonPath: "$.promptInput.names" }],
    itemAlias: ["The context key of the current item; <itemAlias>_index is its index.", "name"],
    loopPlan: [
      "The steps of one turn. The first of them starts.",
      [{ id: "greet", type: "tool_call", toolId: "demo::greet", arguments: { who: { jsonPath: "$.context.name" } } }],
    ],
    concurrency: concurrency("turns", 1),
  },
  HumanInTheLoopStep: {
    message: ["The question.", "May the order be sent?"],
    inputSchema: [
      "JSON Schema of the answer. It becomes a form, and answers are checked against it.",
      { type: "boolean" },
    ],
    saveAs,
    nextStepIdOnInput: ["The step of the same list that follows the answer. Without it the list ends.", "send"],
  },
  FinalResponseStep: {
    message: ["The response: a text, or a pointer whose value keeps its type.", { jsonPath: "$.context.greeting" }],
  },
  ContextValuePointer: {
    jsonPath: [
      "The path. A path to one node gives its value, a query gives an array. $.history[0] is the most recent entry.",
      "$.context.greeting",
      "$.promptInput.names[0]",
      "$.history[?@.planStepId=='greet'].result.output",
    ],
    first: ["Takes the first result of a query instead of an array.", true],
    default: ["The value if the path leads to nothing. Without it the step fails.", null],
  },
  Condition: {
    left: ["A value or a pointer.", { jsonPath: "$.context.score" }],
    operator: ["The comparison. `exists` and `not_exists` have no right side.", "greater_or_equal"],
    right: ["A value or a pointer.", 80],
  },
  RetryPolicy: {
    maxAttempts: ["How often the tool is called at most, the first call included.", 3],
    backoffMs: ["The pause before the second attempt in milliseconds; it doubles each time.", 500],
  },
};
