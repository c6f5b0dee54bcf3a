import type { Tool } from "@ergon/core";
import type { Entity } from "@ergon/core/planner";
import { allClausesOf, type Clause } from "./clauses.ts";
import { stemOf, wordsOf } from "./words.ts";

/**
 * Verbs that change something in the world, with others for the same. What a clause orders with one of them is left to a
 * tool that speaks of it: a tool that only shares the clause's other words would do something else.
 */
const VERBS: VerbGroups = [
  ["delete", "remove", "erase", "wipe", "drop", "purge", "discard", "clear"],
  ["book", "reserve"],
  ["buy", "order", "purchase"],
  ["pay", "charge", "transfer", "refund", "invoice"],
  ["send", "email", "mail", "text", "forward", "post", "publish", "tweet", "share"],
  ["call", "phone", "dial"],
  ["cancel", "unsubscribe"],
  ["install", "uninstall", "deploy", "upgrade", "download", "upload"],
  ["schedule", "remind"],
  ["translate"],
  ["rename", "move", "copy"],
  ["print"],
  ["restart", "reboot", "shutdown"],
];

/** What may stand before the verb of an order. */
const BEFORE_VERB =
  /^(?:(?:please|then|and|also|now|just|kindly|first|finally|next|can|could|would|will|you|i|we|want|need|to|like|let's|lets|d)[\s,]+)*/iu;

export type VerbGroups = readonly (readonly string[])[];
export type Uncovered = { readonly clause: Clause; readonly verb: string };

/** The parts of a message that order what no tool here does; `own` are verbs of the things that it may name. */
export function uncoveredOf(message: string, tools: readonly Tool[], own: VerbGroups = []): readonly Uncovered[] {
  const groups = [...VERBS, ...own].map((group) => group.map(stemOf));
  return allClausesOf(message).flatMap((clause): Uncovered[] => {
    const [verb = ""] = wordsOf(clause.text.replace(BEFORE_VERB, ""));
    const group = groups.find((stems) => stems.includes(stemOf(verb)));
    const isCovered = (tool: Tool): boolean => clause.text.includes(tool.id) || speaksOf(tool, group ?? []);
    return group === undefined || tools.some(isCovered) ? [] : [{ clause, verb }];
  });
}

/** Whether all that is said of a tool orders something that it does not do. */
export function ordersOther(said: string, tool: Tool, own: VerbGroups): boolean {
  const uncovered = uncoveredOf(said, [tool], own).length;
  return uncovered > 0 && uncovered === allClausesOf(said).length;
}

/** The verbs that packs name for the things that they know. */
export function verbsOf(entities: readonly Entity[]): VerbGroups {
  return [...new Map(entities.map(({ kind, kindVerbs = [] }) => [kind, kindVerbs])).values()];
}

function speaksOf({ id, title, description, tags }: Tool, stems: readonly string[]): boolean {
  return wordsOf([id, title, description, ...tags].join(" ")).some((word) => stems.includes(stemOf(word)));
}
