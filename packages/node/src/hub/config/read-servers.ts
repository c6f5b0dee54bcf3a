import { MCPServerConfig, MCPServersFile } from "@ergon/core";
import {
  parseTree,
  printParseErrorCode,
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
} from "jsonc-parser";
import { z } from "zod";

export const MAX_SERVERS_FILE_CHARS = 1024 * 1024;
const MAX_FILE_PROBLEMS = 100;

/** `place` is `line:column`, both from 1. */
export type FileProblem = { readonly place: string; readonly path: string; readonly message: string };

export type ServersFile = {
  readonly servers: readonly MCPServerConfig[];
  readonly settings: Omit<MCPServersFile, "servers">;
  /** What is wrong with the rest; a server with a problem is not among `servers`. */
  readonly problems: readonly FileProblem[];
};

/** Reads `mcp-servers.json`, comments and trailing commas allowed. One bad server does not take the others with it. */
export function readServers(text: string): ServersFile {
  if (text.length > MAX_SERVERS_FILE_CHARS) {
    return nothing([
      { place: "1:1", path: "", message: `It has more than ${String(MAX_SERVERS_FILE_CHARS)} characters.` },
    ]);
  }
  const source = text.startsWith("\uFEFF") ? ` ${text.slice(1)}` : text;
  const faults: ParseError[] = [];
  const root = parseTree(source, faults, { allowTrailingComma: true });
  const [fault] = faults;
  if (fault !== undefined || root === undefined) {
    const message =
      fault === undefined ? "It is empty." : `It is not JSON: ${inWords(printParseErrorCode(fault.error))}.`;
    return nothing([{ place: placeOf(source, fault?.offset ?? 0), path: "", message }]);
  }
  const problems: FileProblem[] = [];
  const note = (path: readonly (string | number)[], message: string) => {
    problems.push({ place: placeOf(source, nearest(root, path).offset), path: pointer(path), message });
  };
  const { servers = [], ...settings } = checked(Outline, getNodeValue(root), [], note) ?? {};
  const read: MCPServerConfig[] = [];
  const ids = new Map<string, number>();
  servers.forEach((server, index) => {
    const config = checked(OneServer, server, ["servers", index], note);
    if (config === undefined) return;
    const first = ids.get(config.id);
    if (first !== undefined)
      return note(["servers", index, "id"], `The server at /servers/${String(first)} is "${config.id}" too.`);
    ids.set(config.id, index);
    read.push(config);
  });
  return { servers: read, settings, problems: problems.slice(0, MAX_FILE_PROBLEMS) };
}

const Outline = z.looseObject({
  servers: z.array(z.unknown()).optional(),
  subAgentEnabled: z.boolean().optional(),
  autoDiscoveryEnabled: z.boolean().optional(),
  toolApprovalRequired: z.boolean().optional(),
  approvalRules: MCPServersFile.shape.approvalRules,
});

/** A server is reached in one way, and is enabled unless it says otherwise. */
const OneServer = MCPServerConfig.extend({
  enabled: z.boolean().default(true),
  name: z.string().min(1).max(64).optional(),
})
  .refine(({ command, url }) => (command === undefined) !== (url === undefined), {
    error: 'A server has either a "command" or a "url".',
  })
  .refine(({ url }) => url === undefined || /^https?:/i.test(url), {
    path: ["url"],
    error: "A url begins with http: or https:.",
  })
  .refine(({ url, access }) => url === undefined || access === undefined, {
    path: ["access"],
    error: 'A server with a "url" runs elsewhere; "access" is for servers with a "command".',
  })
  .transform((server) => ({ ...server, name: server.name ?? server.id }));

type Note = (path: readonly (string | number)[], message: string) => void;

function checked<T>(schema: z.ZodType<T>, value: unknown, at: readonly (string | number)[], note: Note): T | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  for (const { path, message } of result.error.issues) note([...at, ...(path as (string | number)[])], message);
  return undefined;
}

/** The deepest thing on the way to the path: a field that is missing has no place of its own. */
function nearest(root: Node, path: readonly (string | number)[]): Node {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = findNodeAtLocation(root, path.slice(0, depth));
    if (node !== undefined) return node;
  }
  return root;
}

function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `${String(before.split("\n").length)}:${String(offset - before.lastIndexOf("\n"))}`;
}

function pointer(path: readonly (string | number)[]): string {
  return path.map((part) => `/${String(part)}`).join("");
}

function inWords(code: string): string {
  return code.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
}

function nothing(problems: readonly FileProblem[]): ServersFile {
  return { servers: [], settings: {}, problems };
}
