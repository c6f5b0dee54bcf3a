import { once as heard } from "node:events";
import { createServer, type Socket } from "node:net";
import { type Logger, toErgonError } from "@ergon/core";
import { once } from "../once.ts";
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
  const doorbell = createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: true });
  doorbell.maxConnections = maxWaiting;
  const waiting = new Set<Socket>();
  const answering = once(async () => {
    const server = await make();
    await server.adopt(doorbell, waiting);
    return server;
  });
  doorbell.on("connection", (socket) => {
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
      doorbell.listen({ host, port });
      await heard(doorbell, "listening");
      return listeningAt(doorbell).url;
    },
    close: async (options) => {
      const server = answering.isAsked() ? await answering().catch(() => undefined) : undefined;
      if (server !== undefined) return server.close(options);
      dismiss();
      if (!doorbell.listening) return;
      doorbell.close();
      await heard(doorbell, "close");
    },
  };
}
