import type { Engine, RefinementLoops } from "@ergon/core";
import type { AskTurn } from "../make-loop.ts";

/** What MCP asks of a data folder. */
export type McpWorkplace = { readonly engine: Engine; readonly loops: RefinementLoops; readonly ask: AskTurn };

/**
 * Does work on whoever owns the data folder. `repeatable`: it may be done again when the owner died and may have done
 * it; what is not, fails then with `owner_gone`.
 */
export type Reach = <T>(
  options: { readonly repeatable: boolean },
  work: (workplace: McpWorkplace) => Promise<T>,
) => Promise<T>;
