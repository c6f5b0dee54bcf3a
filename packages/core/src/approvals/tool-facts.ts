import type { Tool } from "../tools/tool.ts";
import type { ToolIdentity } from "../schema/approval.ts";
import { fingerprintOf } from "./fingerprint.ts";

/** What an approval of a tool is about, whoever the tool comes from. */
export type ToolFacts = {
  /** Absent for tools of our own. */
  readonly serverId?: string;
  readonly identity: ToolIdentity;
  readonly fingerprint: string;
};

/** A server's tool brings its facts along; those of our own are told from how it was defined. */
export function factsOf(tool: Tool): ToolFacts {
  if (tool.hub !== undefined) return tool.hub;
  let facts = known.get(tool);
  if (facts === undefined) {
    const identity = identityOf(tool);
    facts = { identity, fingerprint: fingerprintOf(identity) };
    known.set(tool, facts);
  }
  return facts;
}

const known = new WeakMap<Tool, ToolFacts>();

function identityOf({
  id,
  title,
  description,
  parameters,
  outputSchema,
  effects,
  destructiveHint,
}: Tool): ToolIdentity {
  return {
    name: id,
    title,
    description,
    inputSchema: parameters,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: {
      readOnlyHint: effects === "pure" || effects === "read",
      idempotentHint: effects !== "once",
      destructiveHint: destructiveHint === true,
      openWorldHint: effects !== "pure",
    },
    server: {},
  };
}
