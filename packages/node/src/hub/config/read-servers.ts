import { MCPServerConfig, type MCPServersFile } from "@ergon/core/hub";
import { parseTree, findNodeAtLocation, getNodeValue, type Node, type ParseError } from "jsonc-parser";
import { z } from "zod";
import { checked, type FilePath, type Note } from "./checked.ts";
import { notJson, placeOf, withoutMark } from "./json-text.ts";
import { LEAST_ALLOWING, readPolicy } from "./read-policy.ts";

export const MAX_SERVERS_FILE_CHARS = 1024 * 1024;
const MAX_FILE_PROBLEMS = 100;

/** `place` is `line:column`, both from 1. */
export type FileProblem = {
  readonly place: string;
  readonly path: string;
  readonly message: string;
  /** The server whose entry it is in, where that says its id. */
  readonly serverId?: string;
};

export type ServersFile = {
  readonly servers: readonly MCPServerConfig[];
  readonly settings: Omit<MCPServersFile, "servers">;
  /** What is wrong with the rest; a server with a problem is not among `servers`. */
  readonly problems: readonly FileProblem[];
  /** Nothing could be made of it as a whole: whoever knows what it said before goes on with that. */
  readonly isUnreadable?: true;
};

/** Where the file comes from. */
export type FileOrigin = {
  /** It was found by working directory, not named by a person: it cannot allow anything by itself. */
  readonly isFound?: boolean;
};

/**
 * Reads `mcp-servers.json`, comments and trailing commas allowed. One bad server, rule or setting does not take the others
 * with it, and what cannot be read never allows more than what was meant.
 */
export function readServers(text: string, { isFound = false }: FileOrigin = {}): ServersFile {
  if (text.length > MAX_SERVERS_FILE_CHARS) {
    return unreadable([
      { place: "1:1", path: "", message: `It has more than ${String(MAX_SERVERS_FILE_CHARS)} characters.` },
    ]);
  }
  const source = withoutMark(text);
  const faults: ParseError[] = [];
  const root = parseTree(source, faults, { allowTrailingComma: true });
  const [fault] = faults;
  if (fault !== undefined || root === undefined) {
    const message = fault === undefined ? "It is empty." : notJson(fault);
    return unreadable([{ place: placeOf(source, fault?.offset ?? 0), path: "", message }]);
  }
  const problems: FileProblem[] = [];
  const note: Note = (path, message) => {
    const place = placeOf(source, nearest(root, path).offset);
    problems.push({ place, path: pointer(path), message, ...serverAt(root, path) });
  };
  const outline = checked(Outline, getNodeValue(root), [], note);
  if (outline === undefined) return unreadable(problems);
  const { servers, ...rest } = outline;
  const read: MCPServerConfig[] = [];
  const ids = new Map<string, number>();
  servers?.forEach((server, index) => {
    const config = checked(OneServer, server, ["servers", index], note);
    if (config === undefined) return;
    const first = ids.get(config.id);
    if (first !== undefined)
      return note(["servers", index, "id"], `The server at /servers/${String(first)} is "${config.id}" too.`);
    ids.set(config.id, index);
    read.push(config);
  });
  const settings = readPolicy(rest, { isFound, note });
  return { servers: read, settings, problems: problems.slice(0, MAX_FILE_PROBLEMS) };
}

const Outline = z.looseObject({ servers: z.array(z.unknown()).optional() });

/** A server is reached in one way, and is enabled unless it says otherwise. */
const OneServer = MCPServerConfig.extend({
  enabled: z.boolean().default(true),
  name: z.string().min(1).max(64).optional(),
})
  .strict()
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

/** The deepest thing on the way to the path: a field that is missing has no place of its own. */
function nearest(root: Node, path: FilePath): Node {
  for (let depth = path.length; depth > 0; depth -= 1) {
    const node = findNodeAtLocation(root, path.slice(0, depth));
    if (node !== undefined) return node;
  }
  return root;
}

function serverAt(root: Node, [list, index]: FilePath): Pick<FileProblem, "serverId"> {
  if (list !== "servers" || index === undefined) return {};
  const id: unknown = findNodeAtLocation(root, [list, index, "id"])?.value;
  return typeof id === "string" ? { serverId: id } : {};
}

function pointer(path: FilePath): string {
  return path.map((part) => `/${String(part)}`).join("");
}

function unreadable(problems: readonly FileProblem[]): ServersFile {
  return { servers: [], settings: LEAST_ALLOWING, problems, isUnreadable: true };
}
