import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";

export type WatchedTransport = {
  readonly transport: Transport;
  /** Resolves when the transport has closed, whoever closed it. */
  readonly closed: Promise<void>;
};

/** The same transport, with somebody who looks at every message that comes in. */
export function watchMessages(inner: Transport, onMessage: (message: JSONRPCMessage) => void): WatchedTransport {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const transport: Transport = {
    start: async () => {
      inner.onmessage = (message, extra) => {
        onMessage(message);
        transport.onmessage?.(message, extra);
      };
      inner.onerror = (error) => transport.onerror?.(error);
      inner.onclose = () => {
        transport.onclose?.();
        resolve();
      };
      await inner.start();
    },
    send: (message, options) => inner.send(message, options),
    close: () => inner.close(),
  };
  return { transport, closed };
}
