import { plannerError } from "../errors/planner.ts";
import { pointerTo } from "../schema/values/json.ts";
import { MCPRequest } from "../schema/mcp-loop.ts";
import { adaptTool, type ToolForm } from "../tools/adapt/adapt-tool.ts";
import type { Tool } from "../tools/tool.ts";

/** In the library, `availableTools` may hold whole tools beside names: they are there for this run. */
export type LoopRequest = Omit<MCPRequest, "availableTools"> & {
  readonly availableTools?: readonly (string | ToolForm | { readonly name: string })[] | undefined;
};

export type ReadRequest = {
  readonly request: MCPRequest;
  readonly message: string;
  /** Tools that came with the request. */
  readonly added: readonly Tool[];
};

/** Reads a request as the stranger that it is. Throws `request_invalid` with every issue. */
export function readRequest(given: unknown): ReadRequest {
  const { names, added } = splitTools(given);
  const parsed = MCPRequest.safeParse(
    typeof given === "object" && given !== null && names !== undefined ? { ...given, availableTools: names } : given,
  );
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, code, message }) => ({ path: pointerTo(path), code, message }));
    const [first] = issues;
    const place = first === undefined || first.path === "" ? "" : ` at ${first.path}`;
    const message = `The request has ${String(issues.length)} problem(s): ${first?.message ?? "it cannot be read"}${place}.`;
    throw plannerError("request_invalid", message, { details: { issues } });
  }
  return { request: parsed.data, message: latestMessage(parsed.data), added };
}

/** Spec 1: the last message, or what the caller says it was. */
function latestMessage({ messages, context }: MCPRequest): string {
  const content = messages.at(-1)?.content.trim();
  if (content !== undefined && content !== "") return content;
  const fallback = context?.["lastMessage"];
  if (typeof fallback === "string" && fallback.trim() !== "") return fallback.trim();
  const issue = { path: "/messages", code: "no_message", message: "No message content provided" };
  throw plannerError("request_invalid", "No message content provided: the last message is empty.", {
    details: { issues: [issue] },
  });
}

function splitTools(given: unknown): { readonly names?: readonly unknown[]; readonly added: readonly Tool[] } {
  const listed = (given as { readonly availableTools?: unknown } | null | undefined)?.availableTools;
  if (!Array.isArray(listed)) return { added: [] };
  const added: Tool[] = [];
  const names = listed.map((entry: unknown) => {
    if (typeof entry !== "object" || entry === null) return entry;
    // One of a registry's own list is there already.
    const isListed = "name" in entry && "origin" in entry && "parameters" in entry;
    if (isListed || !CALLABLE.some((key) => key in entry)) return "name" in entry ? entry.name : entry;
    const tool = adaptTool(entry, { source: "availableTools of the request" });
    added.push(tool);
    return tool.id;
  });
  return { names, added };
}

const CALLABLE = ["run", "actionFn", "implementation", "body"];
