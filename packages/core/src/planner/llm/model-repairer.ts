import type { ArgumentRepairer } from "../../ports/argument-repairer.ts";
import type { ChatModel } from "../../ports/chat-model.ts";
import type { JsonObject } from "../../schema/values/json.ts";
import { jsonProblem } from "../../schema/values/json.ts";
import { buildSafePrompt } from "../../tools/build-safe-prompt.ts";
import { jsonIn } from "./json-in.ts";

const SYSTEM = "You repair the arguments of a tool call so that they fit the tool's schema.";
const INSTRUCTIONS = `The call in <data> was refused. Answer with ONLY the corrected arguments, one JSON object.
Change as little as possible, invent nothing that the call does not say, and answer {} when it cannot be repaired.`;
const MAX_OUTPUT_TOKENS = 1_000;
const TIMEOUT_MS = 30_000;

/** Repairs with a model. A model that fails, or answers no object, has nothing better to offer. */
export function createModelRepairer({ model }: { readonly model: ChatModel }): ArgumentRepairer {
  return {
    repair: async ({ toolId, description, parameters, args, error, signal }) => {
      const { system, user } = buildSafePrompt({
        model: model.id,
        system: SYSTEM,
        instructions: INSTRUCTIONS,
        context: { toolId, description, parameters, args, error: error.message },
        maxOutputTokens: MAX_OUTPUT_TOKENS,
      });
      const messages = [
        { role: "system" as const, content: system },
        { role: "user" as const, content: user },
      ];
      try {
        const reply = await model.generate({
          messages,
          temperature: 0,
          maxOutputTokens: MAX_OUTPUT_TOKENS,
          timeoutMs: TIMEOUT_MS,
          signal,
        });
        return reply.truncated ? undefined : repaired(jsonIn(reply.text).values.findLast(isObject), args);
      } catch (thrown) {
        if (signal.aborted) throw thrown;
        return undefined;
      }
    },
  };
}

function repaired(value: unknown, given: JsonObject): JsonObject | undefined {
  if (!isObject(value) || jsonProblem(value) !== undefined || Object.keys(value).length === 0) return undefined;
  return JSON.stringify(value) === JSON.stringify(given) ? undefined : (value as JsonObject);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
