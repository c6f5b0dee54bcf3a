import { Json, type JsonObject } from "@ergon/core";
import { HubServerStatus, HubStats, type MCPServerConfig, type ServerQuestion, ServerTest } from "@ergon/core/hub";
import { z } from "zod";
import { serverPath } from "./paths.ts";
import { callRemote, readJson, type RemoteRequest, type RemoteTarget } from "./remote-call.ts";

/** The servers of the hub, as whoever owns the data folder keeps them. */
export type ServerAdmin = {
  readonly list: () => Promise<ServersList>;
  /** Refuses what cannot be taken in, and then nothing has changed. */
  readonly add: (config: MCPServerConfig) => Promise<HubServerStatus>;
  /** Fields that are null are taken away. */
  readonly change: (serverId: string, fields: JsonObject) => Promise<HubServerStatus>;
  readonly remove: (serverId: string) => Promise<void>;
  /** Starts it once more beside the one that runs, and looks. */
  readonly test: (serverId: string, signal?: AbortSignal) => Promise<ServerTest>;
  /** A server of a configuration that was found, not named, may start from now on. */
  readonly approve: (serverId: string) => Promise<HubServerStatus>;
  /** For its resources and prompts. */
  readonly ask: (serverId: string, question: ServerQuestion, signal?: AbortSignal) => Promise<Json>;
  readonly stats: () => Promise<HubStats>;
};

export const ServersList = z.object({
  items: z.array(HubServerStatus),
  /** The file that names them. */
  file: z.string(),
  problems: z.array(
    z.object({ place: z.string(), path: z.string(), message: z.string(), serverId: z.string().optional() }),
  ),
});
export type ServersList = z.infer<typeof ServersList>;

export function createRemoteServers(target: RemoteTarget, owner: string): ServerAdmin {
  const ask = async (request: Omit<RemoteRequest, "owner">): Promise<unknown> =>
    readJson(await callRemote(target, { owner, ...request }), request.signal);
  return {
    list: async () => ServersList.parse(await ask({ path: "/servers" })),
    add: async (body) => HubServerStatus.parse(await ask({ method: "POST", path: "/servers", body })),
    change: async (serverId, body) =>
      HubServerStatus.parse(await ask({ method: "PATCH", path: serverPath(serverId), body })),
    remove: async (serverId) => void (await ask({ method: "DELETE", path: serverPath(serverId) })),
    test: async (serverId, signal) => {
      const request = { method: "POST", path: `${serverPath(serverId)}/test`, body: {} } as const;
      return ServerTest.parse(await ask(signal === undefined ? request : { ...request, signal }));
    },
    approve: async (serverId) =>
      HubServerStatus.parse(await ask({ method: "POST", path: `${serverPath(serverId)}/approve`, body: {} })),
    ask: async (serverId, question, signal) => {
      const request = { method: "POST", path: `${serverPath(serverId)}/ask`, body: question } as const;
      return Json.parse(await ask(signal === undefined ? request : { ...request, signal }));
    },
    stats: async () => HubStats.parse(((await ask({ path: "/stats" })) as { hub?: unknown }).hub),
  };
}
