import type { ToolRegistry } from "@ergon/core";
import type { CommitNews } from "@ergon/core/store-kit";
import { changedOffers } from "../mcp/host/changed-offers.ts";
import { changedResources } from "../mcp/host/changed-resources.ts";
import type { HostParts } from "../mcp/host/compose-host.ts";
import type { GatewayDeps } from "../mcp/surfaces/gateway.ts";
import type { McpHost } from "../mcp/host/mcp-host.ts";
import type { McpWorkspace, WithOwner } from "../mcp/drive/with-owner.ts";
import { lazy } from "../services/lazy.ts";

export type OwnMcpParts = Pick<HostParts, "values" | "version" | "plans" | "ids" | "logger"> &
  McpWorkspace & {
    readonly registry: Pick<ToolRegistry, "onChange">;
    /** Whether what the hub's servers have is shown, too. */
    readonly gateway: boolean;
    readonly watchEvents: (listener: (news: readonly CommitNews[]) => void) => () => void;
    /** Where plans can change while the process runs. */
    readonly onPlans?: (listener: () => void) => () => void;
  };

/** MCP on a folder that is ours; loaded when it is first asked for. */
export function ownMcp(given: OwnMcpParts): () => Promise<McpHost> {
  const { gateway, registry, watchEvents, onPlans, ...parts } = given;
  return lazy(async () => {
    const [{ composeMcpHost }, { announcePlans, createMcpChanges }] = await Promise.all([
      import("../mcp/host/compose-host.ts"),
      import("../mcp/host/changes.ts"),
    ]);
    const changes = createMcpChanges((announce) => ({
      stop: watchEvents((news) => {
        const events = news.flatMap((commit) => commit.events());
        for (const { owner, uri } of changedResources(events)) announce(owner, uri);
      }),
      begun: Promise.resolve(),
    }));
    onPlans?.(() => announcePlans(changes));
    const { logger } = parts;
    const reach: WithOwner = (_, work) => work(parts);
    const onChange: GatewayDeps["onChange"] = (listener) => {
      registry.onChange(() => listener("tools"));
      watchEvents((news) => {
        const told = news.filter(({ types }) => types.includes("server-changed"));
        told.flatMap(({ events }) => events().flatMap(changedOffers)).forEach(listener);
      });
    };
    const more = gateway
      ? [(await import("../mcp/surfaces/gateway.ts")).gatewaySurface({ reach, changes, logger, onChange })]
      : [];
    return composeMcpHost({ ...parts, changes, reach, more });
  });
}
