import { didYouMean } from "@ergon/core";
import { ApprovalRule } from "@ergon/core/schema";
import { MCPServerConfig, OAuthSettings } from "@ergon/core/hub";

/*
 * Fields of `mcp-servers.json` that Ergon does not have. None is passed over: a misspelt `access` would start a server
 * without its fence.
 */

export const POLICY_FIELDS = [
  "subAgentEnabled",
  "autoDiscoveryEnabled",
  "toolApprovalRequired",
  "approvalRules",
] as const;
export type PolicyField = (typeof POLICY_FIELDS)[number];

type Kind = "file" | "server" | "access" | "oauth" | "rule";

const FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  file: ["servers", "$schema", ...POLICY_FIELDS],
  server: Object.keys(MCPServerConfig.shape),
  access: Object.keys(MCPServerConfig.shape.access.unwrap().shape),
  oauth: Object.keys(OAuthSettings.shape),
  rule: Object.keys(ApprovalRule.shape),
};

/** What other programs' files have beside their servers. */
const FOREIGN_LISTS: readonly string[] = ["mcpServers", "projects", "inputs", "mcp"];

/** What other programs call a thing of a server, and how it is said here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  type: 'it follows from "command" or "url"',
  transport: 'it follows from "command" or "url"',
  serverUrl: 'here it is "url"',
  httpUrl: 'here it is "url"',
  disabled: 'here it is "enabled": false',
  alwaysAllow: 'here it is "autoApprove"',
  timeout: 'here it is "timeoutMs"',
  envFile: 'here the variables stand in "env"',
  trust: 'here it is "trusted"',
  auth: 'here it is "oauth"',
};

export function fieldHere(name: string): string | undefined {
  return Object.hasOwn(ELSEWHERE, name) ? ELSEWHERE[name] : undefined;
}

export function isKnownField(kind: Kind, name: string): boolean {
  return FIELDS[kind].includes(name);
}

/** What to say of a field that is not known. */
export function unknownField(kind: Kind, name: string): string {
  const here = kind === "server" ? fieldHere(name) : undefined;
  if (here !== undefined || (kind === "file" && FOREIGN_LISTS.includes(name))) {
    const hint = here === undefined ? "" : ` (${here})`;
    return `"${name}" is a field of other programs' files${hint}: take their servers in with: ergon servers import FILE.`;
  }
  const meant = didYouMean(name, FIELDS[kind]);
  const known = meant === "" ? ` Known are: ${FIELDS[kind].join(", ")}. Comments are written // like this.` : meant;
  return `"${name}" is not a field of ${NAMES[kind]}.${known}`;
}

const NAMES: Readonly<Record<Kind, string>> = {
  file: "this file",
  server: "a server",
  access: '"access"',
  oauth: '"oauth"',
  rule: "a rule",
};
