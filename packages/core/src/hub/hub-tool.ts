import type { CostModel } from "../energy/cost-model.ts";
import { type ErrorValue, isErgonError, toErgonError } from "../errors/ergon-error.ts";
import { gateError } from "../errors/gate.ts";
import { hubError } from "../errors/hub.ts";
import type { Clock } from "../ports/clock.ts";
import type { ListedTool, McpCall, McpResult } from "../ports/mcp-connector.ts";
import type { MCPServerConfig, ServerQuestion } from "../schema/hub.ts";
import type { Json } from "../schema/values/json.ts";
import type { Effects } from "../schema/tool.ts";
import { adaptMcpTool } from "../tools/adapt/mcp-tool.ts";
import type { Tool, ToolArgs, ToolRun } from "../tools/tool.ts";
import { fingerprintOf } from "../approvals/fingerprint.ts";
import type { ToolIdentity } from "../schema/approval.ts";
import { present } from "../schema/values/present.ts";

/** A planner is shown this much of what a server says of its tool. */
const MAX_DESCRIPTION_CHARS = 4_000;
/** Progress keeps a call alive beyond its server's time limit; nothing keeps it alive longer than this. */
const MAX_HUB_CALL_MS = 3_600_000;

export type HubToolSource = {
  readonly config: MCPServerConfig;
  /** As a person may see it: this is what its approval covers. */
  readonly written: MCPServerConfig;
  readonly version?: string | undefined;
  readonly call: (request: McpCall) => Promise<McpResult>;
  /** For what it has beside its tools. */
  readonly ask: (question: ServerQuestion, signal?: AbortSignal) => Promise<Json>;
  /** Waits until the server is back; false when it does not come back in time. */
  readonly back: () => Promise<boolean>;
  readonly clock: Clock;
  readonly costs?: CostModel | undefined;
  readonly onInvoked?: ((invocation: HubInvocation) => void) | undefined;
};

/** One call of a server's tool, once it is over. */
export type HubInvocation = {
  readonly toolName: string;
  readonly serverId: string;
  /** When it began, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly args: ToolArgs;
  readonly durationMs: number;
  readonly energyUnits: number;
  readonly sessionId?: string;
  readonly conversationId?: string;
  readonly outcome: { readonly result: unknown } | { readonly error: ErrorValue };
};

export type HubTool = {
  /** For the registry. */
  readonly tool: Tool;
  readonly invoke: (args: ToolArgs, run: HubRun) => Promise<unknown>;
};

type HubRun = Pick<ToolRun, "signal" | "progress" | "answers"> &
  Partial<Pick<ToolRun, "idempotencyKey">> &
  Pick<HubInvocation, "sessionId" | "conversationId">;

/** A server's tool as the gate calls it. */
export function hubTool(name: string, listed: ListedTool, source: HubToolSource): HubTool {
  const { config } = source;
  const effects = effectsOf(listed, config);
  const about = listed.description === "" ? `${listed.name}.` : listed.description;
  const tool = {
    name,
    description: `${cut(about)} (of the MCP server "${config.name}")`,
    serverId: config.id,
    serverName: config.name,
    parameters: listed.inputSchema,
  };
  const called = { name, listed, source, effects };
  const priced: { tool?: Tool } = {};
  const invoke: HubTool["invoke"] = async (args, run) => {
    const over = watched(called, priced, { args, run });
    const request = requestOf(called, args, run);
    try {
      let answer: McpResult;
      try {
        answer = await source.call(request);
      } catch (thrown) {
        answer = await again(called, request, thrown);
      }
      const result = outputOf(name, answer);
      over({ result });
      return result;
    } catch (thrown) {
      const error = toErgonError(thrown, "tool_failed");
      // A question is no outcome: the call is made again.
      if (error.code !== "input_required") over({ error: error.toJSON() });
      throw thrown;
    }
  };
  const adapted = adaptMcpTool(tool, {
    call: (args, run, { sessionId, conversationId }) => {
      const { signal, progress, answers, idempotencyKey } = run;
      return invoke(args, { signal, progress, idempotencyKey, ...present({ answers, sessionId, conversationId }) });
    },
    effects,
    timeoutMs: MAX_HUB_CALL_MS,
    ...present({ title: listed.title, outputSchema: listed.outputSchema }),
  });
  priced.tool = { ...adapted, hub: hubFacts(listed, source) };
  return { tool: priced.tool, invoke };
}

/** What a person relies on who approves it. */
export function hubFacts(listed: ListedTool, source: HubToolSource): NonNullable<Tool["hub"]> {
  const identity = identityOf(listed, source);
  return { identity, fingerprint: fingerprintOf(identity), serverId: source.config.id };
}

/** Begins to measure a call; the returned function tells of it. */
function watched(
  { name, source }: Called,
  priced: { readonly tool?: Tool },
  { args, run: { sessionId, conversationId } }: { readonly args: ToolArgs; readonly run: HubRun },
): (outcome: HubInvocation["outcome"]) => void {
  const { clock, costs, onInvoked } = source;
  const startedMs = clock.monotonic();
  const atMs = clock.now();
  return (outcome) => {
    const durationMs = Math.max(0, clock.monotonic() - startedMs);
    const energyUnits = priced.tool === undefined ? 0 : (costs?.settleTool(priced.tool, durationMs) ?? 0);
    const session = present({ sessionId, conversationId });
    const serverId = source.config.id;
    onInvoked?.({ toolName: name, serverId, atMs, args, durationMs, energyUnits, outcome, ...session });
  };
}

/** What annotations say counts only where the server is trusted: it writes them itself. */
function effectsOf({ annotations }: ListedTool, { trusted }: MCPServerConfig): Effects {
  if (trusted !== true) return "once";
  if (annotations?.["readOnlyHint"] === true) return "read";
  return annotations?.["idempotentHint"] === true ? "idempotent" : "once";
}

function identityOf(listed: ListedTool, { written, version }: HubToolSource): ToolIdentity {
  const { name, title, description, inputSchema, outputSchema, annotations } = listed;
  const { command, args, cwd, env, url } = written;
  return {
    name,
    description,
    inputSchema,
    ...present({ title, outputSchema, annotations }),
    server: present({ command, args, cwd, env, url, version }),
  };
}

type Called = {
  readonly name: string;
  readonly listed: ListedTool;
  readonly source: HubToolSource;
  readonly effects: Effects;
};

function requestOf({ listed, source, effects }: Called, args: ToolArgs, run: HubRun): McpCall {
  return {
    name: listed.name,
    args,
    signal: run.signal,
    onProgress: run.progress,
    ...(run.answers === undefined ? {} : { answers: run.answers }),
    ...(effects !== "once" || run.idempotencyKey === undefined ? {} : { once: run.idempotencyKey }),
    ...(source.config.timeoutMs === undefined ? {} : { timeoutMs: source.config.timeoutMs }),
  };
}

/** Makes a call again whose answer was lost, where repeating does no harm: most connections come back. */
async function again({ name, source, effects }: Called, request: McpCall, thrown: unknown): Promise<McpResult> {
  if (!isErgonError(thrown) || thrown.code !== "answer_lost" || request.signal?.aborted === true) throw thrown;
  if (effects === "once") {
    const message = `${thrown.message} "${name}" may have taken effect.`;
    throw gateError("outcome_unknown", message, { cause: thrown, details: { toolId: name } });
  }
  if (!(await source.back())) throw thrown;
  return source.call(request);
}

/** Structured content where there is some, a lone text as text, and anything else as the blocks that came. */
function outputOf(name: string, { content, structuredContent, isError }: McpResult): unknown {
  if (isError) throw hubError("server_refused", textOf(content) ?? `"${name}" failed and did not say why.`);
  if (structuredContent !== undefined) return structuredContent;
  const [only] = content;
  return content.length === 1 && only?.type === "text" ? (only.text ?? "") : { content };
}

function textOf(content: McpResult["content"]): string | undefined {
  const texts = content.flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : []));
  return texts.length === 0 ? undefined : texts.join("\n");
}

function cut(text: string): string {
  return text.length <= MAX_DESCRIPTION_CHARS ? text : `${text.slice(0, MAX_DESCRIPTION_CHARS)}…`;
}
