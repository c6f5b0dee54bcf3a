import type { JsonObject } from "../../schema/values/json.ts";

/** What is told of a server in conversations: that it fell, and that it is back. Each once. */
export function createServerNotes(): (change: JsonObject) => string | undefined {
  const fallen = new Set<string>();
  return ({ serverId, name, state, error }) => {
    const [id, shown] = [textOf(serverId), textOf(name)];
    if (state === "down" && !fallen.has(id)) {
      if (fallen.size < MAX_FALLEN) fallen.add(id);
      const why = textOf(error).replace(/\.+$/, "");
      return `The MCP server "${shown}" cannot be reached${why === "" ? "" : `: ${why}`}. Its tools fail until it is back.`;
    }
    if (!UP.has(textOf(state)) || !fallen.delete(id)) return undefined;
    return `The MCP server "${shown}" is back.`;
  };
}

export const MAX_FALLEN = 1_000;
const UP = new Set(["ready", "degraded"]);

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
