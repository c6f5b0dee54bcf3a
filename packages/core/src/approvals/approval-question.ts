import type { CallInQuestion } from "../ports/approval-questions.ts";
import type { Approval } from "../schema/approval.ts";
import { canonicalJson, sha256Hex } from "../schema/values/hash.ts";
import type { Tool } from "../tools/tool.ts";
import { previewOf, previewText } from "./preview.ts";

const ID_HEX_CHARS = 32;

/** The question about a call. Its id is made of all that a yes is bound to, so that it can be for nothing else. */
export function questionAbout(
  call: CallInQuestion,
  tool: Tool | undefined,
  { askedAt, expiresAt }: { readonly askedAt: string; readonly expiresAt: string },
): Approval {
  const { owner, toolId, args, argsHash, boundTo, changes, sessionId, step, conversationId } = call;
  return {
    id: approvalId(call),
    owner,
    tool: toolId,
    server: tool?.hub?.serverId ?? null,
    ...(tool === undefined ? {} : { description: previewText(tool.description) }),
    parameters: previewOf(args, tool?.parameters ?? true),
    argsHash,
    fingerprint: boundTo ?? null,
    estimatedEnergyCost: call.estimatedUnits,
    ...(tool?.alwaysAsk === true ? { alwaysAsk: true } : {}),
    reason: previewText(call.reason),
    ...(changes === undefined ? {} : { changes: [...changes] }),
    state: "pending",
    requestedAt: askedAt,
    expiresAt,
    sessionId,
    step,
    ...(conversationId === undefined ? {} : { conversationId }),
  };
}

function approvalId({ owner, key, toolId, argsHash, boundTo = "" }: CallInQuestion): string {
  return `apr_${sha256Hex(canonicalJson([owner, key, toolId, argsHash, boundTo])).slice(0, ID_HEX_CHARS)}`;
}
