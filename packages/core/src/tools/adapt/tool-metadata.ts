import { z } from "zod";
import { ToolId } from "../../schema/tool.ts";
import type { Tool, ToolBody, ToolContext, ToolRun } from "../tool.ts";
import { CommonFields, FunctionField, commonPart } from "./common-fields.ts";
import { guarded, nameOf, readForm, type Provenance } from "./read-form.ts";
import { zodArgs } from "./zod-args.ts";
import { ZodSchema, outputJsonSchema, zodValidator } from "./zod-schema.ts";

/** Spec 1's tool, with what Ergon adds; only the spec's own four fields are required. */
export type ToolMetadata<Schema extends z.ZodType = z.ZodType> = {
  readonly name: string;
  readonly description: string;
  readonly argsSchema: Schema;
  /** Its result must be JSON; fields that are undefined are left out. */
  run(params: { readonly args: z.output<Schema>; readonly context: ToolContext }, run: ToolRun): unknown;
  readonly title?: string;
  readonly outputSchema?: z.ZodType;
  readonly applicableRoles?: readonly string[];
  readonly tags?: readonly string[];
  readonly suggestedPrerequisites?: readonly string[];
  readonly suggestedPostrequisites?: readonly string[];
  readonly requiredContext?: readonly string[];
  readonly usesAI?: boolean;
  readonly effects?: Tool["effects"];
  readonly destructiveHint?: boolean;
  readonly timeoutMs?: number;
  readonly freshForMs?: number;
  readonly energyUnits?: number;
};

/** Turns spec 1's form into a tool; throws `tool_invalid`, `schema_invalid` or `infrastructure_in_args`. */
export function adaptToolMetadata(metadata: unknown, from: Provenance = {}): Tool {
  return guarded(KIND, metadata, () => {
    const form = readForm(KIND, Fields, metadata);
    const owner = nameOf(KIND, metadata);
    const { parameters, check } = zodArgs(owner, form.argsSchema);
    const shownOutput = form.outputSchema === undefined ? undefined : outputJsonSchema(form.outputSchema, owner);
    // Called on the author's own object, so that a method may use `this`.
    const author = metadata as ToolMetadata;
    const validateOutput =
      form.outputSchema === undefined ? undefined : zodValidator(form.outputSchema, shownOutput ?? {});
    const body: ToolBody = {
      ...check,
      ...(validateOutput === undefined ? {} : { validateOutput }),
      // The context is read only if the tool asks for it.
      run: (call, run) =>
        author.run(
          {
            args: call.args,
            get context() {
              return call.context;
            },
          },
          run,
        ),
    };
    return {
      ...commonPart(form),
      ...from,
      id: form.name,
      title: form.title ?? form.name,
      origin: "registered",
      parameters,
      argsSchema: form.argsSchema,
      ...(shownOutput === undefined ? {} : { outputSchema: shownOutput }),
      body: () => body,
    };
  });
}

const KIND = "tool";

const Fields = z.object({
  ...CommonFields,
  name: ToolId,
  argsSchema: ZodSchema,
  outputSchema: ZodSchema.optional(),
  run: FunctionField,
});
