/*
 * Resources and prompts of the hub's servers, shown to MCP clients as ours. Lists are asked of the servers each time; what
 * is read passes the gate as a call does.
 *
 * A prompt is named `{server}_{prompt}`, as tools are; a resource is `ergon://servers/{server}/` and then the server's own
 * address as it is, so that what stands for a part of a template goes on standing for it.
 */
import { isBlobRef, isErgonError, Json, type Logger, toErgonError } from "@ergon/core";
import { nameTools, readToolId, type ServerOffer, type ServerQuestion, serverPart } from "@ergon/core/hub";
import {
  type GetPromptResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  type ResourceTemplateType,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { driveCall, type WaitingCall } from "../drive/drive-call.ts";
import { addressOf, partsOf, shownBlock } from "./gateway-address.ts";
import type { McpWorkspace, WithOwner } from "../drive/with-owner.ts";
import type { BegunArgument, Completions, McpCall, McpPrompt, McpResources, McpSurface } from "../host/surface.ts";

/** A server that takes longer to list is left out of the list. */
const LIST_MS = 5_000;
/** Whoever types does not wait longer for what they could type. */
const COMPLETION_MS = 2_000;
/** Of each kind, of all servers together. */
export const MAX_GATEWAY_LISTED = 5_000;

export type GatewayReadsDeps = { readonly reach: WithOwner; readonly logger: Logger };

export function gatewayReads({ reach, logger }: GatewayReadsDeps): Pick<McpSurface, "prompts" | "resources"> {
  const resources: McpResources = {
    list: async () => (await lists("resources")).flatMap(({ part, list }) => shownResources(part, list.resources)),
    templates: async () =>
      (await lists("resources")).flatMap(({ part, list }) => shownTemplates(part, list.resourceTemplates)),
    read: async (uri, call) => {
      const { part, address } = partsOf(uri);
      if (part === undefined || address === undefined) return undefined;
      return await orNothing(() => readResource(call, { uri, part, address }));
    },
    complete: async (template, begun, call) => {
      const { part, address } = partsOf(template);
      if (part === undefined || address === undefined) return undefined;
      return await completed({ part, of: { template: address } }, begun, call);
    },
  };
  return { prompts, resources };

  async function prompts(): Promise<readonly McpPrompt[]> {
    return (await lists("prompts")).flatMap(({ part, list }) => {
      const { named, collisions } = nameTools(part, list.prompts);
      for (const { name } of collisions) logger.warn({ name }, "Two prompts of a server would have one name.");
      return [...named].map(([name, prompt]) => shownPrompt(part, name, prompt));
    });
  }

  /** Of the servers that are there; one that does not answer is told of in the log. */
  async function lists<K extends ServerOffer>(kind: K): Promise<readonly { part: string; list: Lists[K] }[]> {
    const all = await reach({ repeatable: true }, async ({ servers }) => {
      const { items } = await servers.list();
      const asked = items
        .filter(({ connected }) => connected)
        .map(async ({ id, name }) => {
          try {
            const list = LISTS[kind].parse(await servers.ask(id, { kind }, AbortSignal.timeout(LIST_MS))) as Lists[K];
            return { part: serverPart(name), list };
          } catch (thrown) {
            const { code, message } = toErgonError(thrown, "server_refused");
            logger.warn({ serverId: id, kind, code, reason: message }, "A server's list cannot be shown.");
            return undefined;
          }
        });
      return await Promise.all(asked);
    });
    let left = MAX_GATEWAY_LISTED;
    return all.filter((one) => {
      left -= one === undefined ? 0 : Object.values(one.list).flat().length;
      if (left < 0 && one !== undefined) logger.warn({ server: one.part, kind }, "There is too much to list it all.");
      return one !== undefined && left >= 0;
    }) as readonly { part: string; list: Lists[K] }[];
  }

  /** As its server completes it; one that cannot, or takes too long, knows nothing to complete it with. */
  async function completed(
    { part, of }: { readonly part: string; readonly of: Completed["of"] },
    { given, ...argument }: BegunArgument,
    { signal }: McpCall,
  ): Promise<Completions> {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(COMPLETION_MS)]);
    return await reach({ repeatable: true }, async ({ servers }) => {
      const { items } = await servers.list();
      const server = items.find(({ connected, name }) => connected && serverPart(name) === part);
      if (server === undefined) return { values: [] };
      try {
        const question = { kind: "completion", of, argument, given } as const;
        return CompletedValues.parse(await servers.ask(server.id, question, patience));
      } catch (thrown) {
        const { code, message } = toErgonError(thrown, "server_refused");
        logger.warn({ serverId: server.id, code, reason: message }, "A server does not complete an argument.");
        return { values: [] };
      }
    });
  }

  function shownPrompt(part: string, name: string, prompt: Lists["prompts"]["prompts"][number]): McpPrompt {
    return {
      definition: { ...prompt, name },
      complete: (begun, call) => completed({ part, of: { prompt: prompt.name } }, begun, call),
      get: async (args, call) =>
        await driveCall<GetPromptResult>(reach, call, {
          tool: name,
          args,
          called: { toolId: readToolId(part, "prompts"), args: { name: prompt.name, arguments: args } },
          result: async (output, workspace) => {
            const { messages, ...rest } = Messages.parse(await whole(output, call, workspace));
            const shown = messages.map((message) => ({ ...message, content: shownBlock(part, message.content) }));
            return { ...rest, messages: shown } as unknown as GetPromptResult;
          },
          waiting: refused,
        }),
    };
  }

  async function readResource(
    call: McpCall,
    { uri, part, address }: { readonly uri: string; readonly part: string; readonly address: string },
  ): Promise<ReadResourceResult | InputRequiredResult> {
    return await driveCall<ReadResourceResult>(reach, call, {
      tool: "resources/read",
      args: { uri },
      called: { toolId: readToolId(part, "resources"), args: { uri: address } },
      result: async (output, workspace) => {
        const { contents } = Contents.parse(await whole(output, call, workspace));
        const shown = contents.map((content) => ({ ...content, uri: addressOf(part, content.uri) }));
        return { contents: shown as unknown as ReadResourceResult["contents"] };
      },
      waiting: refused,
    });
  }
}

const LISTS = {
  resources: z.object({
    resources: z.array(z.looseObject({ uri: z.string(), name: z.string() })),
    resourceTemplates: z.array(z.looseObject({ uriTemplate: z.string(), name: z.string() })),
  }),
  prompts: z.object({ prompts: z.array(z.looseObject({ name: z.string() })) }),
};
type Lists = { readonly [K in keyof typeof LISTS]: z.infer<(typeof LISTS)[K]> };

const Messages = z.looseObject({ messages: z.array(z.looseObject({ content: Json })) });
const Contents = z.object({ contents: z.array(z.looseObject({ uri: z.string() })) });

type Completed = Extract<ServerQuestion, { readonly kind: "completion" }>;
const CompletedValues = z.object({
  values: z.array(z.string()),
  total: z.number().optional(),
  hasMore: z.boolean().optional(),
});

function shownResources(part: string, resources: Lists["resources"]["resources"]): readonly Resource[] {
  return resources.map((one) => ({ ...one, name: `${part}_${one.name}`, uri: addressOf(part, one.uri) }));
}

function shownTemplates(
  part: string,
  templates: Lists["resources"]["resourceTemplates"],
): readonly ResourceTemplateType[] {
  return templates.map((one) => ({
    ...one,
    name: `${part}_${one.name}`,
    uriTemplate: addressOf(part, one.uriTemplate),
  }));
}

/** What the gate has put aside as a blob is what the client wants to read. */
async function whole(output: Json, { owner }: McpCall, { engine }: McpWorkspace): Promise<Json> {
  if (!isBlobRef(output)) return output;
  const { bytes } = await engine.readBlob({ owner, id: output.$blob });
  return JSON.parse(new TextDecoder().decode(bytes)) as Json;
}

function refused({ message, ...data }: WaitingCall): never {
  throw new ProtocolError(ProtocolErrorCode.InvalidRequest, message, data);
}

/** A server that is not there, or has no resources, has none of this name. */
async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (thrown) {
    if (isErgonError(thrown) && thrown.code === "tool_not_found") return undefined;
    throw thrown;
  }
}
