import { type ErgonError, type Logger, toErgonError } from "@ergon/core";
import { type EmbeddedEngine, syncEnds } from "@ergon/core/engine";
import { reachableHere } from "../http/server/addresses.ts";
import { createLateServer } from "../http/server/late-server.ts";
import type { HttpServer } from "../http/server/server.ts";
import { closeIfOpened, lazy } from "../services/lazy.ts";
import { describeEnd, unhurried } from "../workspace/leaving.ts";
import type { OpenOptions, OwnedData, Workspace, WorkspaceParts } from "../workspace/workspace.ts";
import { ownFirstToken } from "./own-first-token.ts";
import { openEngine } from "./owned-engine.ts";
import { declareServices } from "./owned-services.ts";

/** Calls under way get this long to end when a process is asked to go. */
const DRAIN_MS = 4_000;

/** Starts what drives a folder that is ours, and listens; if a part fails on the way, all of it is closed again. */
export async function own(parts: WorkspaceParts, data: OwnedData, options: OpenOptions): Promise<Workspace> {
  const { logger } = parts;
  const { listen, recover, stays = false } = options;
  const ready = { now: !recover };
  const firstToken = lazy(() => ownFirstToken(data, parts, options));
  const core = await openEngine(parts, data, options);
  const { hub, approvals, engine, supervisor } = core;
  const services = declareServices(parts, { data, options, core, firstToken, isReady: () => ready.now });
  const stopSyncing = syncEnds(data.state, logger);
  let server: HttpServer | undefined;
  const sayWhatEnds = (): void => {
    const line = describeEnd(engine.underWay());
    if (line !== undefined) parts.note(line);
  };
  process.on("exit", sayWhatEnds);
  const close = async (): Promise<void> => {
    try {
      approvals.stop();
      services.planWatch?.close();
      await supervisor.stop({ graceMs: DRAIN_MS });
      // Before others are told that we go: what they take over then is not taken a step further here.
      engine.drain();
      await data.retire().catch((thrown: unknown) => {
        logger.warn({ error: toErgonError(thrown, "store_unavailable").toJSON() }, "server.json could not be changed.");
      });
      if (!stays) await unhurried(engine.onceCallsDone(), parts);
      await server?.close({ graceMs: DRAIN_MS });
      await closeIfOpened(services.conversations, ({ stop }) => stop());
      await services.subAgent.close();
      services.loops.opened()?.tellAll();
      await engine.close({ graceMs: DRAIN_MS });
      stopSyncing();
    } finally {
      process.off("exit", sayWhatEnds);
      await hub.close().catch((thrown: unknown) => {
        logger.error({ error: toErgonError(thrown, "internal").toJSON() }, "The MCP servers could not be ended.");
      });
      await data.close();
    }
  };
  try {
    whenLost(data.lost, (error) => {
      ready.now = false;
      logger.error({ error: error.toJSON() }, "The data folder is no longer this process's: it ends at once.");
      parts.fatal(error);
    });
    await firstToken();
    const { answering } = services;
    server = listen === undefined ? createLateServer(answering, { logger }) : await answering();
    let url = "";
    if (data.isAlone !== true) {
      url = await server.listen(listen?.host ?? "127.0.0.1", listen?.port ?? 0);
      await data.announce(reachableHere(url));
    }
    supervisor.start({ catchUp: recover });
    approvals.start(engine.settleApproval);
    if (recover) {
      // A command that came for something else must not fail the sessions of others for want of their tools.
      const knows = (toolId: string): boolean => parts.registry.has(toolId) || hub.mayHave(toolId);
      recoverBehind(() => engine.recover(stays ? {} : { knows }), logger);
      if (stays || (await services.conversationsLeft())) await services.conversations();
    }
    ready.now = true;
    if (stays) hub.start();
    return { ...services.forMcp, ...services.forCommands, servers: hub.desk, url, isOwner: true, close };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

function whenLost(lost: AbortSignal, act: (error: ErgonError) => void): void {
  const tell = (): void => act(toErgonError(lost.reason, "ownership_lost"));
  if (lost.aborted) tell();
  else lost.addEventListener("abort", tell, { once: true });
}

/** Recovery must not keep the command waiting. */
function recoverBehind(recover: EmbeddedEngine["recover"], logger: Logger): void {
  recover().catch((thrown: unknown) => {
    logger.error(
      { error: toErgonError(thrown, "recovery_failed").toJSON() },
      "Unfinished sessions could not be taken up.",
    );
  });
}
