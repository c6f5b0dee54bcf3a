import type { ToolDefinition, ToolRun } from "@ergon/core";
import { z } from "zod";
import { Dataset, DatasetName } from "./dataset.ts";

/** A file may be large, and a machine slow. */
const TIMEOUT_MS = 600_000;

/** How a tool is told which dataset. */
export const DatasetArgument = z
  .union([DatasetName, z.looseObject(Dataset.shape)])
  .describe("The name of a dataset that this session has loaded, or what quick-data::load_dataset returned");

export const ColumnNames = z.array(z.string()).min(1).max(200);

export type DataTool<Args extends z.ZodObject, Output extends z.ZodType> = {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly args: Args;
  readonly output: Output;
  /** Whether it looks at files, which may change, or only at what it is given. */
  readonly effects: "pure" | "read";
  readonly run: (args: z.output<Args>, run: ToolRun) => Promise<z.input<Output>>;
};

/** What a `*.tool.ts` of this pack exports; its schemas are those that its code is typed by. */
export function dataTool<Args extends z.ZodObject, Output extends z.ZodType>(
  tool: DataTool<Args, Output>,
): {
  readonly definition: ToolDefinition;
  readonly implementation: (args: z.input<Args>, run: ToolRun) => Promise<z.input<Output>>;
} {
  const { name, title, description, effects } = tool;
  return {
    definition: {
      id: `quick-data::${name}`,
      title,
      description,
      parameters: jsonSchema(tool.args, "input"),
      outputSchema: jsonSchema(tool.output, "output"),
      effects,
      timeoutMs: TIMEOUT_MS,
      tags: ["quick-data", "data"],
    },
    implementation: async (args, run) => tool.run(tool.args.parse(args), run),
  };
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): ToolDefinition["parameters"] {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return rest as ToolDefinition["parameters"];
}
