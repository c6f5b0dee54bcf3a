import { isErgonError, Json, JsonObject, toErgonError } from "@ergon/core";
import { z } from "zod";
import { WORK_KINDS, type Work } from "./work.ts";

/** What the owner's process sends, and what it gets back. */
const Order = z.union([
  z.object({ do: z.enum(WORK_KINDS), id: z.string(), params: Json }),
  z.object({ cancel: z.string() }),
]);
export const Report = z.union([
  z.object({ id: z.string(), result: Json }),
  z.object({
    id: z.string(),
    error: z.object({ code: z.string(), message: z.string(), details: JsonObject.optional() }),
  }),
]);
export type Report = z.infer<typeof Report>;

/** The two ends of the channel, as Node gives them to a process that was started with one. */
export type Channel = {
  readonly on: (event: "message" | "disconnect", listener: (message: unknown) => void) => unknown;
  readonly send?: ((message: Report) => unknown) | undefined;
};

/** Does what it is told, each under its own id, until its channel closes. */
export function serveOrders(channel: Channel, work: Work): void {
  const active = new Map<string, AbortController>();
  // Whoever ordered it is gone: what was begun for them must not go on alone.
  channel.on("disconnect", () => {
    for (const ended of active.values()) ended.abort(new Error("cancelled"));
  });
  channel.on("message", (message) => {
    const order = Order.parse(message);
    if ("cancel" in order) active.get(order.cancel)?.abort(new Error("cancelled"));
    else void carryOut(order.id, order.do, order.params);
  });

  async function carryOut(id: string, kind: Parameters<Work>[0], params: Json): Promise<void> {
    const ended = new AbortController();
    active.set(id, ended);
    try {
      channel.send?.({ id, result: await work(kind, params, ended.signal) });
    } catch (thrown) {
      const { code, message, details } = isErgonError(thrown) ? thrown : toErgonError(thrown, "install_failed");
      channel.send?.({
        id,
        error: { code, message, ...(details === undefined ? {} : { details: details as JsonObject }) },
      });
    } finally {
      active.delete(id);
    }
  }
}
