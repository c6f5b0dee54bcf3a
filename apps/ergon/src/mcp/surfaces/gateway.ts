// `--gateway`: what the hub's servers have, shown to MCP clients as ours. Each call passes the gate like any other.
import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, toErgonError } from "@ergon/core";
import type { ToolSummary } from "@ergon/core/schema";
import type { ServerOffer } from "@ergon/core/hub";
import type { McpChanges } from "../host/changes.ts";
import { gatewayReads } from "./gateway-reads.ts";
import { gatewayTool } from "./gateway-tool.ts";
import type { WithOwner } from "../drive/with-owner.ts";
import type { McpSurface, McpTool } from "../host/surface.ts";

export type GatewayDeps = {
  readonly reach: WithOwner;
  readonly changes: McpChanges;
  readonly logger: Logger;
  /** Calls back when one of the servers' lists may be another; absent where nobody tells. */
  readonly onChange?: (listener: (list: "tools" | ServerOffer) => void) => unknown;
};

/** Many clients list tools once: servers that are starting are waited for this long. */
const FIRST_LIST_MS = 5_000;

export function gatewaySurface({ reach, changes, logger, onChange }: GatewayDeps): McpSurface {
  let shown: readonly McpTool[] = [];
  let seen = "[]";
  let looking: Promise<void> | undefined;
  let again: Promise<void> | undefined;

  /** Never more than one at a time; what changes meanwhile is looked at once more. */
  function look(): Promise<void> {
    if (looking !== undefined) {
      again ??= looking.then(() => {
        again = undefined;
        return look();
      });
      return again;
    }
    looking = takeIn()
      .catch((thrown: unknown) => {
        logger.warn({ error: toErgonError(thrown, "internal").toJSON() }, "The servers' tools cannot be listed.");
      })
      .finally(() => {
        looking = undefined;
      });
    return looking;
  }

  async function takeIn(): Promise<void> {
    const tools = (await reach({ repeatable: true }, ({ tools: list }) => list())).filter(isOfHub);
    const now = JSON.stringify(tools);
    if (now === seen) return;
    seen = now;
    shown = tools.map((tool) => gatewayTool(tool, reach, { part: tool.id.split("_", 1)[0] ?? "" }));
    changes.announce({ kind: "list", list: "tools" });
  }

  onChange?.((list) => {
    if (list === "tools") void look();
    else changes.announce({ kind: "list", list });
  });
  return {
    ...gatewayReads({ reach, logger }),
    prepare: async () => {
      const patience = new AbortController();
      const late = sleep(FIRST_LIST_MS, undefined, { signal: patience.signal, ref: false }).catch(() => undefined);
      await Promise.race([reach({ repeatable: true }, ({ allToolsReady }) => allToolsReady()), late]);
      await Promise.race([look(), late]);
      patience.abort();
    },
    tools: () => shown,
  };
}

function isOfHub({ origin }: ToolSummary): boolean {
  return origin === "hub";
}
