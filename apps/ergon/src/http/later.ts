import { usageError } from "@ergon/core";
import { route, type Route } from "./route.ts";

/** Doors that CONTRACT names and that come in a later version: known, and refused by name. */
const LATER = [
  ["POST", "/subagent/requests", "The sub-agent"],
  ["GET", "/subagent/requests/:id", "The sub-agent"],
  ["DELETE", "/subagent/requests/:id", "The sub-agent"],
] as const;

export function laterRoutes(): readonly Route[] {
  return LATER.map(([method, path, what]) =>
    route({
      method,
      path,
      operationId: `later${method}${path.replaceAll(/\W+/g, "-")}`,
      summary: `${what}: not in this version yet`,
      access: "agent",
      answers: {},
      handle: () => {
        throw usageError("not_available", `${what} come${what.endsWith("s") ? "" : "s"} in a later version of Ergon.`);
      },
    }),
  );
}
