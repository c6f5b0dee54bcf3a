import { z } from "zod";
import {
  MAX_REASON_CHARS,
  MAX_SNOOZE_MINUTES,
  MAX_THOUGHT_CHARS,
  MIN_SNOOZE_MINUTES,
} from "../../schema/conversation.ts";
import { MAX_LEVEL } from "../../energy/regulator.ts";
import { adaptToolMetadata } from "../../tools/adapt/tool-metadata.ts";
import { defineTool } from "../../tools/define.ts";
import type { Tool } from "../../tools/tool.ts";

const MAX_RESPONSE_CHARS = 20_000;
const Reason = z.string().trim().min(1).max(MAX_REASON_CHARS);

/** What each of spec 5's six says with its arguments. */
const ACTS = {
  respond: {
    description: "Answer the person. Ends this turn.",
    args: z.strictObject({ content: z.string().trim().min(1).max(MAX_RESPONSE_CHARS) }),
  },
  await_energy: {
    description: `Go on with this conversation only once the energy level has reached this (1 to ${String(MAX_LEVEL)}).`,
    args: z.strictObject({ level: z.number().min(1).max(MAX_LEVEL) }),
  },
  select_conversation: {
    description: "Turn to another conversation of the same person first; this one keeps waiting.",
    args: z.strictObject({ conversationId: z.string().min(1).max(128) }),
  },
  think: {
    description: "Note a thought for yourself; the person does not see it. Your last five are kept.",
    args: z.strictObject({ thought: z.string().trim().min(1).max(MAX_THOUGHT_CHARS) }),
  },
  end_conversation: {
    description: "End the conversation for good, without a further answer.",
    args: z.strictObject({ reason: Reason }),
  },
  snooze_conversation: {
    description: `Put the conversation off; it comes back by itself after this many minutes (1 to ${String(MAX_SNOOZE_MINUTES)}).`,
    args: z.strictObject({
      minutes: z.int().min(MIN_SNOOZE_MINUTES).max(MAX_SNOOZE_MINUTES),
      reason: Reason.describe("what to do then"),
    }),
  },
} as const;

type BuiltinName = keyof typeof ACTS;

/** A built-in call that the gate has let through. */
export type Act = {
  [Name in BuiltinName]: { readonly tool: Name } & z.output<(typeof ACTS)[Name]["args"]>;
}[BuiltinName];

/** They change conversations only through the loop's own write, so all that they do is say what is wanted. */
export function createBuiltinTools(): readonly Tool[] {
  return Object.entries(ACTS).map(([name, { description, args }]) => {
    const tool = defineTool({
      name,
      description,
      argsSchema: args,
      effects: "pure",
      energyUnits: 0,
      run: (call) => ({ tool: name, ...call.args }),
    });
    return { ...adaptToolMetadata(tool), origin: "builtin" as const };
  });
}
