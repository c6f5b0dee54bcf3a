import type { JsonObject } from "@ergon/core";
import { MCPServersFile } from "@ergon/core/hub";
import { z } from "zod";

/** The JSON Schema (2020-12) of `mcp-servers.json`, for editors. */
export function serversJsonSchema(): JsonObject {
  const schema = z.toJSONSchema(FILE, { io: "input", unrepresentable: "any" }) as JsonObject;
  const properties = documented(schema["properties"] as JsonObject, FILE_DOCS);
  const list = properties["servers"] as JsonObject;
  const server = list["items"] as JsonObject;
  const fields = documented(server["properties"] as JsonObject, SERVER_DOCS);
  const items = {
    ...server,
    properties: fields,
    oneOf: [{ required: ["command"] }, { required: ["url"] }],
  };
  return {
    ...schema,
    title: "Ergon MCP servers",
    description: "The MCP servers whose tools Ergon offers, and the rules for calls. Comments are allowed.",
    properties: { ...properties, servers: { ...list, items } },
  };
}

const shape = MCPServersFile.shape;
const Server = shape.servers.element;
const FILE = z.strictObject({
  $schema: z.string().optional(),
  ...shape,
  servers: z.array(
    z.strictObject({
      ...Server.shape,
      name: Server.shape.name.optional(),
      enabled: Server.shape.enabled.default(true),
    }),
  ),
});

type Doc = readonly [description: string, example: JsonObject[string]];

function documented(properties: JsonObject, docs: Readonly<Record<string, Doc>>): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const doc = docs[name];
      if (doc === undefined) return [name, property];
      return [name, { description: doc[0], examples: [doc[1]], ...(property as JsonObject) }];
    }),
  );
}

const FILE_DOCS = {
  $schema: ["The JSON Schema of this file, for editors.", "./node_modules/ergon/mcp-servers.schema.json"],
  servers: [
    "The MCP servers. Each has a command, which Ergon starts, or a url.",
    [{ id: "files", command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "./notes"] }],
  ],
  subAgentEnabled: ["Whether the sub-agent may work on requests to add, test or change servers.", true],
  autoDiscoveryEnabled: [
    "Whether the sub-agent may search the registry when no tool fits. Installing still needs approval.",
    false,
  ],
  toolApprovalRequired: ["Whether calls of these servers' tools need approval. Default: true.", true],
  approvalRules: [
    "Rules for calls, read from top to bottom; the first that fits decides.",
    [{ decision: "allow", server: "files", annotation: "readOnly" }],
  ],
} as const satisfies Record<string, Doc>;

const SERVER_DOCS = {
  id: ["The server's id in commands and addresses.", "files"],
  name: ["The first part of its tools' names: {name}_{tool}. Default: the id.", "files"],
  command: ["The program to start. It speaks MCP on stdin and stdout.", "npx"],
  args: [
    "The program's arguments. ${NAME} is replaced by the environment variable.",
    ["-y", "@modelcontextprotocol/server-filesystem", "./notes"],
  ],
  env: ["Environment variables for the program. ${NAME} is replaced.", { API_KEY: "${NOTES_API_KEY}" }],
  url: ["The address of a server that runs elsewhere.", "https://notes.example.org/mcp"],
  headers: ["Headers for each request to the url. ${NAME} is replaced.", { Authorization: "Bearer ${NOTES_TOKEN}" }],
  oauth: [
    "How Ergon logs in, where the server cannot register it.",
    { clientId: "ergon", clientSecret: "${NOTES_SECRET}" },
  ],
  cwd: ["The program's working folder.", "${HOME}/notes"],
  timeoutMs: ["The time limit of a call in milliseconds.", 60_000],
  autoApprove: ["Calls that need no approval: true for all, or names of tools with * as a wildcard.", ["read_*"]],
  access: [
    "Starts the program in a fence: it reads and writes these folders only, and has the network unless it is false. Needs bubblewrap.",
    { read: ["${HOME}/servers"], write: ["${HOME}/notes"], network: false },
  ],
  trusted: [
    "Whether the server's own annotations decide the effects of its tools. Without it every call counts as once.",
    false,
  ],
  enabled: ["Whether the server is started. Default: true.", true],
} as const satisfies Record<string, Doc>;
