import { LoopNotFoundError } from "@ergon/core/spec";
import { accessError, ConversationId, noConversation, SessionId, storeError } from "@ergon/core/schema";
import { hubError } from "@ergon/core/hub";
import { TokenName } from "../tokens/token-store.ts";

/*
 * Names as parts of an address. What cannot be a name is refused here as the owner would refuse it: in an address ".."
 * means another place.
 */

export function sessionPath(sessionId: string): string {
  if (!SessionId.safeParse(sessionId).success) throw storeError("session_not_found", `No session "${sessionId}".`);
  return `/sessions/${encodeURIComponent(sessionId)}`;
}

export function blobPath(id: string): string {
  if (!/^[0-9a-f]{64}$/.test(id)) throw storeError("blob_not_found", `No blob "${id}".`);
  return `/blobs/${id}`;
}

export function tokenPath(name: string): string {
  if (!TokenName.safeParse(name).success) throw accessError("token_not_found", `No token "${name}".`);
  return `/tokens/${encodeURIComponent(name)}`;
}

export function loopPath(id: string): string {
  if (!/^[0-9a-f]{8}$/.test(id)) throw new LoopNotFoundError(id);
  return `/loops/${id}`;
}

export function serverPath(serverId: string): string {
  // What URLs make of "." and ".." is another place.
  if (/^\.{0,2}$/.test(serverId)) throw hubError("server_not_found", `There is no MCP server "${serverId}".`);
  return `/servers/${encodeURIComponent(serverId)}`;
}

export function conversationPath(id: string): string {
  if (!ConversationId.safeParse(id).success) throw noConversation(id);
  return `/conversations/${encodeURIComponent(id)}`;
}
