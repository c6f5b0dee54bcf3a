import { canonicalJson, sha256Hex } from "../schema/values/hash.ts";
import { asJson } from "../schema/values/json.ts";
import type { GrantedIdentity, ToolChange, ToolIdentity } from "../schema/approval.ts";
import { showHidden } from "./hidden-text.ts";

export function fingerprintOf(identity: ToolIdentity): string {
  return sha256Hex(canonicalJson(asJson(identity)));
}

/** Longer texts are cut where they are shown, not where they are compared. */
export const MAX_SHOWN_CHARS = 4_000;

/** What differs, in the order in which a person should read it, with hidden characters written out. */
export function changesBetween(before: GrantedIdentity, after: ToolIdentity): readonly ToolChange[] {
  const changes: ToolChange[] = [];
  const earlier = fieldsOf(before);
  const later = fieldsOf(after);
  for (const field of Object.keys(later)) {
    if (earlier[field] === later[field]) continue;
    changes.push({ field, before: shown(earlier[field] ?? ""), after: shown(later[field] ?? "") });
  }
  return changes;
}

function fieldsOf({ server = {}, ...tool }: GrantedIdentity): Record<string, string> {
  return {
    "server command": [server.command ?? server.url ?? "", ...(server.args ?? [])].map(quotedWord).join(" "),
    "server folder": server.cwd ?? "",
    "server environment": server.env === undefined ? "" : canonicalJson(server.env),
    "server version": server.version ?? "",
    name: tool.name,
    title: tool.title ?? "",
    description: tool.description ?? "",
    inputSchema: tool.inputSchema === undefined ? "" : canonicalJson(tool.inputSchema),
    outputSchema: tool.outputSchema === undefined ? "" : canonicalJson(tool.outputSchema),
    annotations: tool.annotations === undefined ? "" : canonicalJson(tool.annotations),
  };
}

/** `a b` as one word and as two are different commands. */
function quotedWord(word: string): string {
  return /^[\w@%+=:,./-]*$/.test(word) ? word : JSON.stringify(word);
}

function shown(text: string): string {
  const visible = showHidden(text);
  if (visible.length <= MAX_SHOWN_CHARS) return visible;
  return `${visible.slice(0, MAX_SHOWN_CHARS)}… (${String(visible.length - MAX_SHOWN_CHARS)} more characters)`;
}
