import { hubError, type MCPServerConfig } from "@ergon/core/hub";
import {
  applyEdits,
  findNodeAtLocation,
  type JSONPath,
  modify,
  type Node,
  parse as parseLoose,
  parseTree,
} from "jsonc-parser";
import { withLastItem, withoutItem } from "./edit-list.ts";
import { readServers } from "./read-servers.ts";

const EMPTY = '{\n  "servers": []\n}\n';
const FORMAT = { formattingOptions: { insertSpaces: true, tabSize: 2 } };

/*
 * Changes to `mcp-servers.json` as text: comments, order and fields that we do not know stay as they were. None of these
 * touches a file that cannot be read: it would be lost.
 */

export function withServer(text: string, config: MCPServerConfig): string {
  const source = startingFrom(text);
  const at = indexOf(source, config.id);
  if (at >= 0)
    throw hubError("server_duplicate", `There is a server "${config.id}" already.`, {
      details: { serverId: config.id },
    });
  const list = serversIn(source);
  if (list?.children?.length) return withLastItem(source, list, config);
  return edited(
    source,
    list === undefined ? ["servers"] : ["servers", -1],
    list === undefined ? [config] : config,
    true,
  );
}

export function withoutServer(text: string, serverId: string): string {
  const source = startingFrom(text);
  const at = known(source, serverId);
  return withoutItem(source, serversIn(source) as Node, at);
}

/** A value of undefined takes the field away. */
export function withServerField(text: string, serverId: string, field: keyof MCPServerConfig, value: unknown): string {
  const source = startingFrom(text);
  return edited(source, ["servers", known(source, serverId), field], value);
}

/** Adds tools to those of a server that need no approval. */
export function withAllowed(text: string, serverId: string, tools: readonly string[]): string {
  const { autoApprove } = readServers(startingFrom(text)).servers.find(({ id }) => id === serverId) ?? {};
  if (autoApprove === true) return text;
  const before = Array.isArray(autoApprove) ? autoApprove : [];
  return withServerField(text, serverId, "autoApprove", [...new Set([...before, ...tools])]);
}

/** Takes a tool out of those again; what a pattern allows goes on being allowed. */
export function withoutAllowed(text: string, serverId: string, tool: string): string {
  const { autoApprove } = readServers(startingFrom(text)).servers.find(({ id }) => id === serverId) ?? {};
  if (!Array.isArray(autoApprove) || !autoApprove.includes(tool)) return text;
  const left = autoApprove.filter((allowed) => allowed !== tool);
  return withServerField(text, serverId, "autoApprove", left.length === 0 ? undefined : left);
}

function startingFrom(text: string): string {
  const source = text.trim() === "" ? EMPTY : text;
  const [problem] = readServers(source).problems.filter(({ path }) => path === "" || path === "/servers");
  if (problem === undefined) return source;
  throw hubError(
    "server_config_invalid",
    `The file cannot be changed before it is right: ${problem.place}: ${problem.message}`,
    {
      details: { problems: [problem] },
    },
  );
}

function edited(source: string, path: JSONPath, value: unknown, isArrayInsertion = false): string {
  return applyEdits(source, modify(source, path, value, { ...FORMAT, isArrayInsertion }));
}

function serversIn(source: string): Node | undefined {
  const root = parseTree(source, [], { allowTrailingComma: true });
  return root === undefined ? undefined : findNodeAtLocation(root, ["servers"]);
}

function known(source: string, serverId: string): number {
  const at = indexOf(source, serverId);
  if (at >= 0) return at;
  throw hubError("server_not_found", `The configuration has no server "${serverId}".`, { details: { serverId } });
}

/** By its place in the file, where servers with problems count too. */
function indexOf(source: string, serverId: string): number {
  const servers = (parseLoose(source) as { servers?: readonly { id?: unknown }[] }).servers ?? [];
  return servers.findIndex((server) => server?.id === serverId);
}
