import { z } from "zod";
import { registryError } from "../../errors/registry.ts";
import { ToolId } from "../../schema/tool.ts";
import type { Tool, ToolRun } from "../tool.ts";
import { CommonFields, FunctionField } from "./common-fields.ts";
import { guarded, nameOf, readForm, type Provenance } from "./read-form.ts";
import { adaptToolMetadata, type ToolMetadata } from "./tool-metadata.ts";
import { ZodSchema } from "./zod-schema.ts";

/** A tool with a schema for its input and, where given, one for its output. Without `effects` a call is never repeated. */
export type TypedTool<
  Name extends string = string,
  Input extends z.ZodType = z.ZodType,
  Output extends z.ZodType = z.ZodType,
> = Omit<ToolMetadata, "name" | "argsSchema" | "outputSchema" | "run"> & {
  readonly name: Name;
  readonly input: Input;
  /** The result is checked against it. */
  readonly output?: Output;
  /** Its result must be JSON; fields that are undefined are left out. */
  run(args: z.output<Input>, ctx: ToolRun): z.input<Output> | Promise<z.input<Output>>;
  readonly argsSchema?: never;
  readonly outputSchema?: never;
};

/** Throws `tool_invalid`, `schema_invalid` or `infrastructure_in_args`. */
export function adaptTypedTool(form: unknown, from: Provenance = {}): Tool {
  return guarded(KIND, form, () => {
    refuseBothForms(form);
    const { name: _, run: __, input, output, ...common } = readForm(KIND, Fields, form);
    // Called on the author's own object, so that a method may use `this`.
    const author = form as TypedTool;
    const metadata: ToolMetadata = {
      ...(common as Partial<ToolMetadata>),
      name: author.name,
      description: author.description,
      argsSchema: input,
      ...(output === undefined ? {} : { outputSchema: output }),
      run: ({ args }, run) => author.run(args, run),
    };
    return adaptToolMetadata(metadata, from);
  });
}

/** Which of the two schemas would count is not for Ergon to guess. */
export function refuseBothForms(form: unknown): void {
  if (typeof form !== "object" || form === null || !("input" in form) || !("argsSchema" in form)) return;
  const message = `${nameOf(KIND, form)} has both "input" and "argsSchema". Give "input" with run(args, ctx), or "argsSchema" with run({ args, context }, ctx).`;
  throw registryError("tool_invalid", message);
}

const KIND = "tool";

const Fields = z.object({
  ...CommonFields,
  name: ToolId,
  input: ZodSchema,
  output: ZodSchema.optional(),
  run: FunctionField,
});
