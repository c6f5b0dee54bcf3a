import type { Clause } from "./clauses.ts";
import type { Mentions } from "./entities.ts";
import type { RankedTool } from "./rank-tools.ts";
import { clauseWording, wholeWording, type Wording } from "./wording.ts";

/** A tool with what of the message speaks of it. */
export type ChosenTool = RankedTool & { readonly wording: Wording };

/** A tool and the clause that named it, if it was one alone. */
export type Named = { readonly ranked: RankedTool; readonly clause?: Clause | undefined };

/** What a clause says alone: the tools by how likely it means them, and whether it means the first clearly. */
export type Heard = { readonly clause: Clause; readonly ranked: readonly RankedTool[]; readonly isClear: boolean };

/** Which clause means which tool, in the order in which they are said. The best for the whole message is among them. */
export function tellApart(best: RankedTool, heard: readonly Heard[], most: number): readonly Named[] {
  const named = heard.flatMap(({ clause, ranked: [first], isClear }): readonly Named[] =>
    isClear && first !== undefined ? [{ ranked: first, clause }] : [],
  );
  const own = named.filter(({ ranked }) => ranked.tool.id === best.tool.id);
  const others = named.filter((one) => !own.includes(one));
  const [first = { ranked: best, clause: likeliest(best, heard) }, ...again] = own;
  return [{ ...first, ranked: best }, ...again, ...others]
    .slice(0, most)
    .sort((a, b) => (a.clause?.at ?? 0) - (b.clause?.at ?? 0));
}

/** Among the clauses that name no other tool. */
function likeliest({ tool }: RankedTool, heard: readonly Heard[]): Clause | undefined {
  const scored = heard
    .filter(({ isClear }) => !isClear)
    .map(({ clause, ranked }) => ({ clause, score: ranked.find((one) => one.tool.id === tool.id)?.score ?? 0 }))
    .filter(({ score }) => score > 0);
  return scored.toSorted((a, b) => b.score - a.score)[0]?.clause;
}

/** Each tool is read in the clause that named it; one that is alone has the whole message. */
export function worded(message: string, named: readonly Named[], mentions: Mentions): readonly ChosenTool[] {
  return named.map(({ ranked, clause }) => {
    if (clause === undefined || named.length === 1) return { ...ranked, wording: wholeWording(message, mentions) };
    const others = named.flatMap((other) =>
      other.clause === undefined || other.ranked.tool.id === ranked.tool.id ? [] : [other.clause],
    );
    return { ...ranked, wording: clauseWording(message, clause, { others, mentions }) };
  });
}
