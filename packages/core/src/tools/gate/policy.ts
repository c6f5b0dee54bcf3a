import type { ToolChange } from "../../schema/approval.ts";
import type { Json } from "../../schema/values/json.ts";
import type { Caller } from "./call.ts";
import type { Tool } from "../tool.ts";

/** What a policy is asked, for each call whose args are valid. */
export type PolicyQuestion = {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, Json>>;
  readonly argsHash: string;
  readonly caller: Caller;
  readonly sessionId?: string;
  readonly estimatedUnits: number;
};

export type PolicyAnswer =
  | { readonly kind: "allow" }
  | {
      readonly kind: "needs_approval";
      readonly reason: string;
      /** What the person's yes is bound to: the tool as it is now. */
      readonly fingerprint?: string;
      /** What is other than when a person allowed it. */
      readonly changes?: readonly ToolChange[];
    }
  | { readonly kind: "deny"; readonly reason: string };

/** Decides who may call what. One that throws or answers anything else denies. */
export type ToolPolicy = (question: PolicyQuestion) => PolicyAnswer | Promise<PolicyAnswer>;

const ALLOW: PolicyAnswer = { kind: "allow" };

/** For where every caller is the user. */
export const allowAll: ToolPolicy = () => ALLOW;

/** For programs that have no other: a tool that may destroy something needs a person's yes, or a policy that allows it. */
export const askBeforeDestroying: ToolPolicy = ({ tool }) => {
  if (tool.destructiveHint !== true && tool.alwaysAsk !== true) return ALLOW;
  const why = tool.destructiveHint === true ? "it may destroy something" : "it is asked about each time";
  return { kind: "needs_approval", reason: `${why}; a program decides by its own \`policy\`, allowAll for one` };
};
