import { type McpServer, ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { McpChange, McpChanges } from "./changes.ts";

/** Resources that one connection may subscribe to. */
export const MAX_WATCHED = 100;

export type ConnectionChanges = {
  /** Resolves when what becomes of it from now on will be told. */
  readonly subscribe: (uri: string) => Promise<void>;
  readonly unsubscribe: (uri: string) => void;
};

/**
 * Tells a connection of changes until it closes. In the newer era the SDK keeps what was subscribed to (`allToolsReady`);
 * in the older one it is kept here.
 */
export function tellConnection(
  { server }: McpServer,
  changes: McpChanges,
  { owner, allToolsReady }: { readonly owner: string; readonly allToolsReady: boolean },
): ConnectionChanges {
  const watched = new Set<string>();
  let endInterest = allToolsReady ? changes.interest() : undefined;
  const stop = changes.listen((change) => void tell(change).catch(() => undefined));
  server.onclose = () => {
    stop();
    endInterest?.();
  };

  async function tell(change: McpChange): Promise<void> {
    if (change.kind === "resource") {
      const wanted = change.owner === owner && (allToolsReady || watched.has(change.uri));
      if (wanted) await server.sendResourceUpdated({ uri: change.uri });
      return;
    }
    switch (change.list) {
      case "tools":
        return await server.sendToolListChanged();
      case "prompts":
        return await server.sendPromptListChanged();
      case "resources":
        return await server.sendResourceListChanged();
    }
  }

  return {
    subscribe: async (uri) => {
      if (watched.size >= MAX_WATCHED && !watched.has(uri)) {
        const message = `At most ${MAX_WATCHED} resources can be subscribed to.`;
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
      }
      watched.add(uri);
      endInterest ??= changes.interest();
      await changes.watching();
    },
    unsubscribe: (uri) => {
      watched.delete(uri);
      if (watched.size > 0 || allToolsReady) return;
      endInterest?.();
      endInterest = undefined;
    },
  };
}
