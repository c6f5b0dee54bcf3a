import type { ApprovalStore } from "../ports/approval-store.ts";
import type { ToolGrant } from "../schema/approval.ts";
import type { MaybePromise } from "../tools/tool.ts";

/** Tools whose grant is kept in memory; more are read when they are asked for. */
export const MAX_KNOWN_GRANTS = 10_000;

/** What people allowed for good, as fast as every call asks for it. */
export type ToolGrants = {
  readonly read: (toolId: string) => MaybePromise<ToolGrant | undefined>;
  readonly put: (grant: ToolGrant) => Promise<void>;
  /** False when there was none. */
  readonly remove: (toolId: string) => Promise<boolean>;
  /** From now on they are kept there; until then nothing is allowed for good. */
  readonly keepIn: (store: GrantStore) => void;
};

type GrantStore = Pick<ApprovalStore, "readGrant" | "putGrant" | "removeGrant">;

/** Nobody else may write to the store: what was read once is not asked for again. */
export function createToolGrants(): ToolGrants {
  const known = new Map<string, ToolGrant | undefined>();
  let kept: GrantStore | undefined;

  const know = (toolId: string, grant: ToolGrant | undefined): ToolGrant | undefined => {
    if (known.size >= MAX_KNOWN_GRANTS) known.clear();
    known.set(toolId, grant);
    return grant;
  };

  return {
    read: (toolId) => {
      if (kept === undefined || known.has(toolId)) return known.get(toolId);
      return kept.readGrant(toolId).then((grant) => (known.has(toolId) ? known.get(toolId) : know(toolId, grant)));
    },
    put: async (grant) => {
      await kept?.putGrant(grant);
      know(grant.toolId, grant);
    },
    remove: async (toolId) => {
      const wasThere = (await kept?.removeGrant(toolId)) ?? false;
      know(toolId, undefined);
      return wasThere;
    },
    keepIn: (store) => {
      kept = store;
      known.clear();
    },
  };
}
