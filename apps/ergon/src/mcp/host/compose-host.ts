import type { Logger } from "@ergon/core";
import type { Ids } from "@ergon/core/store-kit";
import type { SettingValues } from "@ergon/node";
import type { PlanCatalog } from "../../services/plan-catalog.ts";
import { askSurface } from "../surfaces/ask.ts";
import { createMcpChanges, type McpChanges } from "./changes.ts";
import { loopSurface } from "../surfaces/loops.ts";
import { createMcpHost, type McpHost } from "./mcp-host.ts";
import { planWritingSurface } from "../surfaces/plan-writing.ts";
import { planSurface } from "../surfaces/plans.ts";
import type { WithOwner } from "../drive/with-owner.ts";
import { resourceSurface } from "../surfaces/resources.ts";
import { sessionSurface } from "../surfaces/sessions.ts";
import { subAgentSurface } from "../surfaces/sub-agent.ts";
import type { McpSurface } from "./surface.ts";

export type HostParts = {
  readonly values: Pick<SettingValues, "serverName" | "debug">;
  readonly version: string;
  readonly plans: PlanCatalog;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly reach: WithOwner;
  readonly changes?: McpChanges;
  /** Shown beside Ergon's own. */
  readonly more?: readonly McpSurface[];
};

/** Everything that Ergon shows over MCP. */
export function composeMcpHost({ values, version, plans, ids, logger, reach, changes, more = [] }: HostParts): McpHost {
  return createMcpHost({
    name: values.serverName,
    version,
    surfaces: [
      loopSurface(reach),
      askSurface({ reach, ids }),
      sessionSurface({ reach, plans, ids }),
      planWritingSurface(reach),
      planSurface({ reach, plans, ids }),
      resourceSurface({ reach, plans }),
      subAgentSurface(reach),
      ...more,
    ],
    changes: changes ?? createMcpChanges(),
    logger,
    debug: values.debug,
  });
}
