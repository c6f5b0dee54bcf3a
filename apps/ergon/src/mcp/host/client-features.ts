import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InitializeRequest,
  isInitializeRequest,
  type ServerContext,
} from "@modelcontextprotocol/server";

/** What a request says of its client, in the era that says it with every request; else what the client said first. */
export function capabilitiesOf(
  { mcpReq }: ServerContext,
  said: ClientCapabilities | undefined,
): ClientCapabilities | undefined {
  const envelope: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined = mcpReq.envelope;
  return envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? said;
}

/** Whether the client can put a form to its user; one that declares no kind of form means this one. */
export function canShowForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation;
  if (elicitation === undefined) return false;
  return Object.keys(elicitation).length === 0 || elicitation.form !== undefined;
}

/** Whether a client of the older era begins with this. Asking a schema of every message takes longer than reading it. */
export function isOpening(message: unknown): message is InitializeRequest {
  const isNamed = typeof message === "object" && message !== null && "method" in message;
  return isNamed && message.method === "initialize" && isInitializeRequest(message);
}
