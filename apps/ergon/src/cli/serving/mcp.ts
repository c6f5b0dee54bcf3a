import { randomBytes } from "node:crypto";
import { createSystemClock, isErgonError, toErgonError } from "@ergon/core";
import { usageError } from "@ergon/core/schema";
import { createIds } from "@ergon/core/store-kit";
import { FIRST_PRINCIPAL, TokenName } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { App } from "../../workspace/app.ts";
import { changedOffers } from "../../mcp/host/changed-offers.ts";
import { changedResources } from "../../mcp/host/changed-resources.ts";
import { announcePlans, createMcpChanges } from "../../mcp/host/changes.ts";
import { composeMcpHost } from "../../mcp/host/compose-host.ts";
import { type Follow, followThrough } from "../../mcp/drive/follow-through.ts";
import type { GatewayDeps } from "../../mcp/surfaces/gateway.ts";
import type { McpSurface } from "../../mcp/host/surface.ts";
import type { WithOwner } from "../../mcp/drive/with-owner.ts";
import { serveMcpOnStdio } from "../../mcp/transport/stdio.ts";
import { watchPlans } from "../../services/watch-plans.ts";
import { throughOwner } from "../../workspace/through-owner.ts";

/** The folder is entered this long after the start at the latest: the client's first questions come first. */
const ENTER_AFTER_MS = 500;

export type McpOptions = { readonly name?: string; readonly gateway?: boolean; readonly mayApprove?: boolean };

/** The MCP server on stdio, until the client closes the pipe. stdout is the client's alone. */
export async function serveMcp(
  { version, stdout, signal, compose, endsByStopping }: CommandContext,
  { name, gateway, mayApprove = false }: McpOptions,
): Promise<ExitCode> {
  const owner = `stdio:${name === undefined ? randomBytes(6).toString("base64url") : nameOf(name)}`;
  const app = await compose();
  endsByStopping();
  try {
    const { settings, logger } = app;
    const plans = await app.plans();
    const ids = createIds({ clock: createSystemClock() });
    const { promise: entered, resolve: haveEntered } = Promise.withResolvers<void>();
    const reach: WithOwner = async ({ repeatable }, work) => {
      try {
        return await throughOwner(app, { recover: true, stays: true, repeatable }, (workspace) => {
          haveEntered();
          return work(workspace);
        });
      } catch (thrown) {
        // This process goes on: it finds the next owner, or becomes it, without being asked.
        if (isErgonError(thrown) && thrown.code === "owner_gone") enterSoon();
        throw thrown;
      }
    };
    const enterSoon = (): void => {
      const look = (): void => {
        reach({ repeatable: true }, ({ engine }) => engine.listSessions({ owner, limit: 1 })).catch(
          (thrown: unknown) => {
            logger.error({ error: toErgonError(thrown, "internal").toJSON() }, "The data folder cannot be used.");
          },
        );
      };
      setTimeout(look, ENTER_AFTER_MS).unref();
    };
    const follow = followThrough({ reach, entered, logger });
    const changes = createMcpChanges((announce) =>
      follow(owner, (event) => {
        for (const { uri } of changedResources([event])) announce(owner, uri);
      }),
    );
    const more = gateway === true ? [await gatewayOf(app, follow, { reach, changes })] : [];
    const host = composeMcpHost({ values: settings.values, version, plans, ids, logger, reach, changes, more });
    enterSoon();
    const watching = watchPlans({ folders: settings.values.capabilities, plans, logger });
    watching.listen(() => announcePlans(changes));
    const streams = { input: process.stdin, output: stdout };
    try {
      await serveMcpOnStdio(host, { owner, mayApprove, streams, signal });
    } finally {
      watching.close();
    }
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

async function gatewayOf(app: App, follow: Follow, parts: Pick<GatewayDeps, "reach" | "changes">): Promise<McpSurface> {
  const [{ gatewaySurface }, { registry }] = await Promise.all([
    import("../../mcp/surfaces/gateway.ts"),
    app.capabilities(),
  ]);
  const onChange: GatewayDeps["onChange"] = (listener) => {
    registry.onChange(() => listener("tools"));
    // Where the servers are another process's, its events tell of them.
    follow(FIRST_PRINCIPAL, (event) => {
      if (event.type === "tools-changed" || event.type === "server-changed") listener("tools");
      changedOffers(event).forEach(listener);
    });
  };
  return gatewaySurface({ ...parts, logger: app.logger, onChange });
}

function nameOf(given: string): string {
  if (TokenName.safeParse(given).success) return given;
  throw usageError("usage", `--name takes letters, digits, "_", "-" and ".", not "${given}".`);
}
