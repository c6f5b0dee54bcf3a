import { Json, JsonObject } from "@ergon/core";
import { hubError, HubServerStatus, MCPServerConfig, ServerQuestion, ServerTest } from "@ergon/core/hub";
import { type ServerAdmin, ServersList } from "@ergon/node";
import { z } from "zod";
import { route, type Route } from "./server/route.ts";

const ServerParams = z.object({ id: z.string().min(1).max(64) });
const noServer = ({ id = "" }: Readonly<Record<string, string>>): Error =>
  hubError("server_not_found", `There is no MCP server "${id}".`, { details: { serverId: id } });

/** A server is enabled, and named like its id, unless it says otherwise. */
const NewServer = z.strictObject({
  ...MCPServerConfig.shape,
  name: MCPServerConfig.shape.name.optional(),
  enabled: z.boolean().default(true),
});

const { name, enabled, command, args, env, url, headers, oauth, cwd, timeoutMs, autoApprove, access, trusted } =
  MCPServerConfig.shape;
const ServerChange = z.strictObject({
  name: name.optional(),
  enabled: enabled.optional(),
  command: command.nullable(),
  args: args.nullable(),
  env: env.nullable(),
  url: url.nullable(),
  headers: headers.nullable(),
  oauth: oauth.nullable(),
  cwd: cwd.nullable(),
  timeoutMs: timeoutMs.nullable(),
  autoApprove: autoApprove.nullable(),
  access: access.nullable(),
  trusted: trusted.nullable(),
});

export function serverRoutes(servers: ServerAdmin): readonly Route[] {
  return [
    route({
      method: "GET",
      path: "/servers",
      operationId: "listServers",
      summary: "The MCP servers of the hub, and how they are",
      access: "admin",
      answers: { 200: { description: "All servers, and what is wrong with their file", schema: ServersList } },
      handle: async () => ({ status: 200, body: await servers.list() }),
    }),
    route({
      method: "POST",
      path: "/servers",
      operationId: "addServer",
      summary: "Add an MCP server to the configuration, and start it",
      access: "admin",
      body: NewServer,
      answers: { 201: { description: "How it is after its first start", schema: HubServerStatus } },
      handle: async ({ body }) => {
        const added = await servers.add({ ...body, name: body.name ?? body.id });
        return { status: 201, headers: { location: `/servers/${encodeURIComponent(added.id)}` }, body: added };
      },
    }),
    route({
      method: "PATCH",
      path: "/servers/:id",
      operationId: "changeServer",
      summary: "Change fields of a server; null takes a field away",
      access: "admin",
      params: ServerParams,
      unknown: noServer,
      body: ServerChange,
      answers: { 200: { description: "How it is now", schema: HubServerStatus } },
      handle: async ({ params, body }) => ({
        status: 200,
        body: await servers.change(params.id, JsonObject.parse(body)),
      }),
    }),
    route({
      method: "DELETE",
      path: "/servers/:id",
      operationId: "removeServer",
      summary: "Stop a server and take it out of the configuration",
      access: "admin",
      params: ServerParams,
      unknown: noServer,
      answers: { 200: { description: "It is gone", schema: z.object({ removed: z.string() }) } },
      handle: async ({ params }) => {
        await servers.remove(params.id);
        return { status: 200, body: { removed: params.id } };
      },
    }),
    route({
      method: "POST",
      path: "/servers/:id/test",
      operationId: "testServer",
      summary: "Start a server once more, beside the one that runs, and see what it has",
      access: "admin",
      params: ServerParams,
      unknown: noServer,
      answers: { 200: { description: "What came of it", schema: ServerTest } },
      handle: async ({ params }, { left }) => ({ status: 200, body: await servers.test(params.id, left()) }),
    }),
    route({
      method: "POST",
      path: "/servers/:id/ask",
      operationId: "askServer",
      summary: "A server's resources and prompts: list them, read one",
      access: "admin",
      params: ServerParams,
      unknown: noServer,
      body: ServerQuestion,
      answers: { 200: { description: "What it answered, as the protocol has it", schema: Json } },
      handle: async ({ params, body }, { left }) => ({ status: 200, body: await servers.ask(params.id, body, left()) }),
    }),
    route({
      method: "POST",
      path: "/servers/:id/approve",
      operationId: "approveServer",
      summary: "Let a server start that was found in the working folder",
      access: "admin",
      params: ServerParams,
      unknown: noServer,
      answers: { 200: { description: "How it is after its first start", schema: HubServerStatus } },
      handle: async ({ params }) => ({ status: 200, body: await servers.approve(params.id) }),
    }),
  ];
}
