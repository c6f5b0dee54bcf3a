import type { ServerOffer, ServerQuestion } from "../schema/hub.ts";
import type { JsonSchema } from "../schema/values/json.ts";
import { adaptMcpTool } from "../tools/adapt/mcp-tool.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { Tool, ToolArgs } from "../tools/tool.ts";
import { hubFacts, type HubToolSource } from "./hub-tool.ts";

/** By which name a read of a server passes the gate. No tool of a server has it: theirs have no `::`. */
export function readToolId(part: string, offer: ServerOffer): string {
  return `${part}_${offer}::${offer === "resources" ? "read" : "get"}`;
}

/**
 * Reading what a server has beside its tools is a call like any other: checked, asked about, bounded, written down. No
 * list shows these tools; rules and `autoApprove` know them by the protocol's names for them.
 */
export function registerReads(
  registry: Pick<ToolRegistry, "get" | "registerInternal" | "unregisterInternal">,
  part: string,
  { offers, source }: { readonly offers: readonly ServerOffer[]; readonly source: HubToolSource | undefined },
): void {
  for (const offer of ["resources", "prompts"] as const) {
    const id = readToolId(part, offer);
    if (source === undefined || !offers.includes(offer)) {
      registry.unregisterInternal(id);
      continue;
    }
    const read = readTool(id, offer, source);
    const earlier = registry.get(id);
    // A tool of a capability folder that was given this name keeps it.
    const isFree = earlier === undefined || earlier.hub !== undefined;
    if (isFree && earlier?.hub?.fingerprint !== read.hub?.fingerprint) registry.registerInternal(read);
  }
}

function readTool(id: string, offer: ServerOffer, source: HubToolSource): Tool {
  const { name, description, inputSchema, questionOf } = READS[offer];
  const { config, ask } = source;
  const about = `${description} (of the MCP server "${config.name}")`;
  const form = { name: id, description: about, serverId: config.id, serverName: config.name, parameters: inputSchema };
  const tool = adaptMcpTool(form, { call: (args, { signal }) => ask(questionOf(args), signal), effects: "read" });
  return {
    ...tool,
    hub: hubFacts({ name, description, inputSchema, annotations: { readOnlyHint: true } }, source),
  };
}

type Read = {
  /** The protocol's. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly questionOf: (args: ToolArgs) => ServerQuestion;
};

const READS: Readonly<Record<ServerOffer, Read>> = {
  resources: {
    name: "resources/read",
    description: "Reads a resource",
    inputSchema: objectOf({ uri: { type: "string", minLength: 1, maxLength: 2_000 } }, ["uri"]),
    questionOf: ({ uri }) => ({ kind: "resource", uri: uri as string }),
  },
  prompts: {
    name: "prompts/get",
    description: "Fills in a prompt",
    inputSchema: objectOf(
      {
        name: { type: "string", minLength: 1, maxLength: 200 },
        arguments: { type: "object", additionalProperties: { type: "string" } },
      },
      ["name"],
    ),
    questionOf: ({ name, arguments: args = {} }) => ({
      kind: "prompt",
      name: name as string,
      args: args as Record<string, string>,
    }),
  },
};

function objectOf(properties: Record<string, JsonSchema>, required: string[]): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}
