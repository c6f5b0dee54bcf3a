import type { Transport } from "@modelcontextprotocol/client";

type Handler = NonNullable<Transport["onmessage"]>;

/**
 * A result that does not say whether it is complete is complete, as the protocol has it. The SDK refuses such results of
 * servers on the newer protocol, and a call that worked would count as lost. `onMessage` is told of every message.
 */
export function takeBareResults(transport: Transport, onMessage: () => void): void {
  let handler = transport.onmessage;
  Object.defineProperty(transport, "onmessage", {
    configurable: true,
    get: () => handler,
    set: (next: Handler | undefined) => {
      const heard: Handler = (message, extra) => {
        onMessage();
        next?.(completed(message), extra);
      };
      handler = next === undefined ? undefined : heard;
    },
  });
}

function completed(message: Parameters<Handler>[0]): Parameters<Handler>[0] {
  if (!("result" in message) || "resultType" in message.result) return message;
  return { ...message, result: { ...message.result, resultType: "complete" } };
}
