import type { Ids, Logger } from "@ergon/core";
import type { SettingValues } from "@ergon/node";
import type { PlanBooks } from "../plan-shelf.ts";
import { askSurface } from "./ask.ts";
import { createMcpChanges, type McpChanges } from "./changes.ts";
import { loopSurface } from "./loops.ts";
import { createMcpHost, type McpHost } from "./mcp-host.ts";
import { planWritingSurface } from "./plan-writing.ts";
import { planSurface } from "./plans.ts";
import type { Reach } from "./reach.ts";
import { resourceSurface } from "./resources.ts";
import { sessionSurface } from "./sessions.ts";
import { subAgentSurface } from "./sub-agent.ts";
import type { McpSurface } from "./surface.ts";

export type HostParts = {
  readonly values: Pick<SettingValues, "serverName" | "debug">;
  readonly version: string;
  readonly plans: PlanBooks;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly reach: Reach;
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
