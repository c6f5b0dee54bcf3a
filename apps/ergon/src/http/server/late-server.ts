import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type Logger, toErgonError } from "@ergon/core";
import { lazy } from "../../services/lazy.ts";
import { listeningAt } from "./addresses.ts";
import { MAX_CONNECTIONS } from "./http-parts.ts";
import type { AnsweringServer, HttpServer } from "./server.ts";

/**
 * Listens at once, and makes what answers when somebody connects. A command that works for itself is seldom asked
 * anything, and does not load what it never uses.
 */
export function createLateServer(
  make: () => Promise<AnsweringServer>,
  { logger, maxWaiting = MAX_CONNECTIONS }: { readonly logger: Logger; readonly maxWaiting?: number },
): HttpServer {
  // As HTTP wants its connections; nothing is read from them before they are handed on.
  const listener = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true });
  listener.maxConnections = maxWaiting;
  const waiting = new Set<Socket>();
  const answering = lazy(async () => {
    const server = await make();
    await server.adopt(listener, waiting);
    return server;
  });
  listener.on("connection", (socket) => {
    waiting.add(socket);
    socket.once("close", () => void waiting.delete(socket)).on("error", () => socket.destroy());
    answering().catch((thrown: unknown) => {
      logger.error({ error: toErgonError(thrown, "internal").toJSON() }, "What answers requests could not be loaded.");
      dismiss();
    });
  });
  const dismiss = (): void => {
    for (const socket of waiting) socket.destroy();
  };

  return {
    listen: async (host, port) => {
      listener.listen({ host, port });
      await once(listener, "listening");
      return listeningAt(listener).url;
    },
    close: async (options) => {
      const server = await answering.opened()?.catch(() => undefined);
      if (server !== undefined) return server.close(options);
      dismiss();
      if (!listener.listening) return;
      listener.close();
      await once(listener, "close");
    },
  };
}
