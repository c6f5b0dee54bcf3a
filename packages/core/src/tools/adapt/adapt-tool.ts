import { registryError } from "../../errors/registry.ts";
import type { Tool } from "../tool.ts";
import { adaptAction, type MCPActionV2 } from "./action.ts";
import { adaptInnerTool } from "./inner-tool.ts";
import { adaptPureTool, type PureTool, type SchemaProvenance } from "./pure-tool.ts";
import { guarded } from "./read-form.ts";
import { adaptToolMetadata, type ToolMetadata } from "./tool-metadata.ts";

/** Everything that can be registered as it is; a server's tool needs the connection too, see `adaptMcpTool`. */
export type ToolForm = ToolMetadata | MCPActionV2 | PureTool | Tool;

/** Tells the authoring forms apart by what makes each of them callable. Throws what the form's own adapter throws. */
export function adaptTool(form: unknown, from: SchemaProvenance = {}): Tool {
  return guarded("tool", form, () => {
    const { schemas: _, ...provenance } = from;
    if (has(form, "actionFn")) return adaptAction(form, provenance);
    if (has(form, "implementation") || has(form, "definition")) return adaptPureTool(form, from);
    if (has(form, "body")) {
      const tool = adaptInnerTool(form);
      return from.source === undefined ? tool : { ...tool, source: from.source };
    }
    if (has(form, "run") || has(form, "argsSchema")) return adaptToolMetadata(form, provenance);
    throw registryError(
      "tool_invalid",
      "This is no tool: it has neither `run` (with name, description, argsSchema), nor `actionFn`, nor `definition` with `implementation`.",
    );
  });
}

function has(form: unknown, key: string): boolean {
  return typeof form === "object" && form !== null && key in form;
}
