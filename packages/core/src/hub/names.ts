/*
 * How tools of MCP servers are called: `{server}_{tool}`.
 *
 * N1  A server's part has no `_`, so the first `_` of a name splits it without doubt.
 * N2  A name depends on its server and its tool alone, never on what else there is: allow-lists keep their meaning.
 * N3  Two tools never share a name: where they would, neither is there, and the message names both.
 */
import { hubError } from "../errors/hub.ts";
import { sha256Hex } from "../schema/values/hash.ts";

/** What models take for the name of a function. */
export const MAX_HUB_TOOL_NAME = 64;
export const MAX_SERVER_PART = 24;
const HASH_CHARS = 8;

/** Names that Ergon's own tools begin with. */
const RESERVED_SERVER_PARTS: readonly string[] = ["mcp", "plan"];

/** The server's part of its tools' names. */
export function serverPart(serverName: string): string {
  const part = serverName.toLowerCase().replaceAll(/[^a-z0-9]/g, "-");
  // A tool's id begins with a letter or a digit.
  const trimmed = part.replace(/^-+/, "");
  if (trimmed === "") {
    const message = `"${serverName}" has no letter from a to z and no digit; a server's tools are named after it.`;
    throw hubError("server_name_invalid", message, { details: { serverName } });
  }
  if (RESERVED_SERVER_PARTS.includes(trimmed)) {
    const message = `A server cannot be named "${serverName}": names that begin with "${trimmed}_" are Ergon's own.`;
    throw hubError("server_name_invalid", message, { details: { serverName } });
  }
  return shortened(trimmed, MAX_SERVER_PART, serverName);
}

export function hubToolName(part: string, toolName: string): string {
  const tool = toolName.replaceAll(/[^A-Za-z0-9_-]/g, "-");
  return shortened(`${part}_${tool}`, MAX_HUB_TOOL_NAME, `${part}_${toolName}`);
}

export type NamedTools<T> = {
  /** By the name that callers use. */
  readonly named: ReadonlyMap<string, T>;
  /** Names that more than one tool would have; nobody gets them. */
  readonly collisions: readonly { readonly name: string; readonly toolNames: readonly string[] }[];
};

/** Gives each tool of one server its name. */
export function nameTools<T extends { readonly name: string }>(part: string, tools: readonly T[]): NamedTools<T> {
  const claims = new Map<string, T[]>();
  for (const tool of tools) {
    const name = hubToolName(part, tool.name);
    claims.set(name, [...(claims.get(name) ?? []), tool]);
  }
  const named = new Map<string, T>();
  const collisions = [];
  for (const [name, claimants] of claims) {
    const [only] = claimants;
    if (claimants.length === 1 && only !== undefined) named.set(name, only);
    else collisions.push({ name, toolNames: claimants.map((tool) => tool.name) });
  }
  return { named, collisions };
}

/** Two servers whose names come to the same part could answer for each other: the later one is refused. */
export function refuseSharedPart(serverName: string, others: readonly string[]): void {
  const part = serverPart(serverName);
  const other = others.find((name) => serverPart(name) === part);
  if (other === undefined) return;
  const message = `The servers "${other}" and "${serverName}" would both name their tools "${part}_…"; rename one of them.`;
  throw hubError("server_duplicate", message, { details: { serverName, other } });
}

function shortened(name: string, limit: number, whole: string): string {
  if (name.length <= limit) return name;
  return `${name.slice(0, limit - HASH_CHARS - 1)}-${sha256Hex(whole).slice(0, HASH_CHARS)}`;
}
