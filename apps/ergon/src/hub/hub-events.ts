import type { Clock } from "@ergon/core";
import type { NewEvent } from "@ergon/core/schema";
import { isoTime } from "@ergon/core/store-kit";
import type { HubChange } from "@ergon/core/hub";

/** An event names this many tools; more are counted. */
export const MAX_NAMED = 100;

/** Changes of the hub as events, each state told once. */
export function hubEvents({
  clock,
  tell,
}: {
  readonly clock: Clock;
  readonly tell: (events: readonly NewEvent[]) => void;
}): (change: HubChange) => void {
  const told = new Map<string, string>();
  return (change) => {
    const at = isoTime(clock);
    if (change.kind === "tools") {
      const { serverId, added, removed } = change;
      const names = { added: added.slice(0, MAX_NAMED), removed: removed.slice(0, MAX_NAMED) };
      const counts = { addedCount: added.length, removedCount: removed.length };
      tell([{ type: "tools-changed", at, data: { serverId, ...names, ...counts } }]);
      return;
    }
    if (change.kind === "offers") {
      const { serverId, offer } = change;
      tell([{ type: "server-changed", at, data: { serverId, offer } }]);
      return;
    }
    const { id: serverId, name, state, toolCount, errors, nextTryAt } = change.status;
    const seen = `${state} ${String(toolCount)} ${errors.at(-1) ?? ""}`;
    if (told.get(serverId) === seen) return;
    told.set(serverId, seen);
    const error = state === "down" || state === "degraded" ? errors.at(-1) : undefined;
    const data = {
      serverId,
      name,
      state,
      toolCount,
      ...(error === undefined ? {} : { error }),
      ...(nextTryAt === undefined ? {} : { nextTryAt }),
    };
    tell([{ type: "server-changed", at, data }]);
  };
}
