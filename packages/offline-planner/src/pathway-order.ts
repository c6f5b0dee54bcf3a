import type { RankedTool } from "./rank-tools.ts";

/** What prepares goes before what is prepared; otherwise the order in which they were chosen stays. */
export function inPathwayOrder<Chosen extends RankedTool>(chosen: readonly Chosen[]): readonly Chosen[] {
  const ordered: Chosen[] = [];
  const open = new Set<string>();
  const place = (ranked: Chosen): void => {
    if (ordered.includes(ranked) || open.has(ranked.tool.id)) return;
    open.add(ranked.tool.id);
    for (const other of chosen) if (prepares(other, ranked)) place(other);
    open.delete(ranked.tool.id);
    ordered.push(ranked);
  };
  for (const ranked of chosen) place(ranked);
  return ordered;
}

function prepares({ tool: first }: RankedTool, { tool: then }: RankedTool): boolean {
  if (first.id === then.id) return false;
  return then.suggestedPrerequisites.includes(first.id) || first.suggestedPostrequisites.includes(then.id);
}
