import { z } from "zod";
import type { TokenScope } from "../tokens/principal.ts";
import { TokenInfo } from "../tokens/token-store.ts";
import { tokenPath } from "./paths.ts";
import { callRemote, readJson, type RemoteTarget } from "./remote-call.ts";

const Added = TokenInfo.extend({ token: z.string() });
const Listed = z.object({ items: z.array(TokenInfo) });

/** Further principals, as whoever owns the data folder gives and takes their tokens. */
export type TokenAdmin = {
  /** The token is in this answer and nowhere else. */
  readonly add: (name: string, scope: TokenScope) => Promise<TokenInfo & { readonly token: string }>;
  readonly list: () => Promise<readonly TokenInfo[]>;
  readonly revoke: (name: string) => Promise<void>;
};

export function createRemoteTokens(target: RemoteTarget, owner: string): TokenAdmin {
  return {
    add: async (name, scope) => {
      const body = { name, scope };
      return Added.parse(await readJson(await callRemote(target, { owner, method: "POST", path: "/tokens", body })));
    },
    list: async () => Listed.parse(await readJson(await callRemote(target, { owner, path: "/tokens" }))).items,
    revoke: async (name) => {
      await callRemote(target, { owner, method: "DELETE", path: tokenPath(name) });
    },
  };
}
