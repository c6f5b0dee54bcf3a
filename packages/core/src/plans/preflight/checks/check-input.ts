import type { Json, JsonSchema } from "../../../schema/values/json.ts";
import { childPath } from "../../pointer/json-location.ts";
import { createValueChecker } from "../partial/check-value.ts";
import { plainCopy } from "../plain-copy.ts";
import type { Problems } from "../problems.ts";

/** Checking one input takes at most this many steps: about a million values. */
const MAX_INPUT_STEPS = 5_000_000;

export type InputRules = { readonly parameters: JsonSchema | undefined; readonly maxSteps?: number };

/** The plan's input with the defaults of its parameters; undefined when it does not fit them. */
export function checkInput(
  input: unknown,
  { parameters, maxSteps = MAX_INPUT_STEPS }: InputRules,
  problems: Problems,
): Json | undefined {
  const copy = plainCopy(input);
  if (!copy.ok) {
    for (const { path, problem } of copy.faults) {
      problems.error(path.replace("$", "$.input"), "input_invalid", `The input holds ${problem}.`);
    }
    return undefined;
  }
  // With parameters that are no schema, nothing can be said about an input.
  if (parameters === undefined) return undefined;
  const answer = createValueChecker(parameters)(copy.value, { withDefaults: true, maxSteps });
  for (const { path, message } of answer.issues) {
    problems.error(path.reduce<string>(childPath, "$.input"), "input_invalid", message);
  }
  if (answer.exhausted) {
    const message = `Checking this input takes more than ${String(maxSteps)} steps; it is too large.`;
    problems.error("$.input", "input_invalid", message);
  }
  return answer.verdict === "invalid" || answer.exhausted ? undefined : (answer.value as Json);
}
