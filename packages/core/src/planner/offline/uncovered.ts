import type { Tool } from "../../tools/tool.ts";
import { allClausesOf, type Clause } from "./clauses.ts";
import { stemOf, wordsOf } from "./words.ts";

/**
 * Verbs that change something in the world, with others for the same. What a clause orders with one of them is left to a
 * tool that speaks of it: a tool that only shares the clause's other words would do something else.
 */
const VERBS: readonly (readonly string[])[] = [
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
  ["hire", "fire", "promote"],
];

const VERB_STEMS = VERBS.map((group) => group.map(stemOf));
/** What may stand before the verb of an order. */
const BEFORE_VERB =
  /^(?:(?:please|then|and|also|now|just|kindly|first|finally|next|can|could|would|will|you|i|we|want|need|to|like|let's|lets|d)[\s,]+)*/iu;

export type Uncovered = { readonly clause: Clause; readonly verb: string };

/** The parts of a message that order what no tool here does. */
export function uncoveredOf(message: string, tools: readonly Tool[]): readonly Uncovered[] {
  return allClausesOf(message).flatMap((clause): Uncovered[] => {
    const [verb = ""] = wordsOf(clause.text.replace(BEFORE_VERB, ""));
    const group = VERB_STEMS.find((stems) => stems.includes(stemOf(verb)));
    const isCovered = (tool: Tool): boolean => clause.text.includes(tool.id) || speaksOf(tool, group ?? []);
    return group === undefined || tools.some(isCovered) ? [] : [{ clause, verb }];
  });
}

/** Whether all that is said of a tool orders something that it does not do. */
export function ordersOther(own: string, tool: Tool): boolean {
  const uncovered = uncoveredOf(own, [tool]).length;
  return uncovered > 0 && uncovered === allClausesOf(own).length;
}

function speaksOf({ id, title, description, tags }: Tool, stems: readonly string[]): boolean {
  return wordsOf([id, title, description, ...tags].join(" ")).some((word) => stems.includes(stemOf(word)));
}
