import { z } from "zod";
import { registryError } from "../../errors/registry.ts";
import { copyJson, jsonProblem, type JsonObject } from "../../schema/values/json.ts";
import { zodIssues } from "../issues.ts";
import type { Validated } from "../tool.ts";

/** Recognised by shape: a tool's folder may bring its own copy of Zod. */
export const ZodSchema = z.custom<z.ZodType>(isZodSchema, {
  error: ({ input }) =>
    typeof input === "object" && input !== null && "_def" in input
      ? "is made with Zod 3; Ergon takes schemas of Zod 4"
      : "is not a Zod schema",
});

/** What a caller may send, as JSON Schema; what JSON Schema cannot say is left open. */
export function inputJsonSchema(schema: z.ZodType, owner: string): JsonObject {
  return toJsonSchema(schema, "input", owner);
}

/** What the schema makes of it. */
export function outputJsonSchema(schema: z.ZodType, owner: string): JsonObject {
  return toJsonSchema(schema, "output", owner);
}

/** Whether all that the schema can make of its input is JSON. */
export function makesJson(schema: z.ZodType): boolean {
  try {
    z.toJSONSchema(schema, { io: "output", unrepresentable: "throw" });
    return true;
  } catch {
    return false;
  }
}

/** Marks a schema that converts before it checks: it shows what it wants, and takes more than that. */
export const CONVERTS_KEYWORD = "x-ergon-converts";

/** `z.coerce.…`, `z.preprocess`, `.catch()`, and texts that are trimmed or change their case. */
function convertsFirst({ _zod }: z.core.$ZodTypes): boolean {
  const { def } = _zod;
  if (("coerce" in def && def.coerce) || def.type === "catch") return true;
  if (def.checks?.some((check) => check._zod.def.check === "overwrite") === true) return true;
  return def.type === "pipe" && def.in._zod.def.type === "transform";
}

/** Never throws, whatever the schema's own functions do. */
export function zodValidator(schema: z.ZodType, shown: JsonObject): (value: unknown) => Validated<unknown> {
  return (value) => {
    try {
      const parsed = schema.safeParse(value);
      if (parsed.success) return { ok: true, value: parsed.data };
      return { ok: false, issues: zodIssues(parsed.error, shown, value) };
    } catch (thrown) {
      return { ok: false, issues: [{ path: "", code: "schema_threw", message: threwMessage(thrown) }] };
    }
  };
}

function toJsonSchema(schema: z.ZodType, io: "input" | "output", owner: string): JsonObject {
  try {
    const { $schema: _, ...shown } = z.toJSONSchema(schema, {
      io,
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        if (io === "input" && convertsFirst(zodSchema)) jsonSchema[CONVERTS_KEYWORD] = true;
      },
    });
    // Defaults and examples of a Zod schema may be anything, also what JSON cannot hold.
    const plain: unknown =
      jsonProblem(shown, { undefinedIsAbsent: true }) === undefined ? shown : JSON.parse(JSON.stringify(shown));
    return copyJson(plain as JsonObject);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "unknown";
    throw registryError("schema_invalid", `${owner}: its schema cannot be shown as JSON Schema: ${reason}.`, { cause });
  }
}

function threwMessage(thrown: unknown): string {
  const isAsync = thrown instanceof Error && thrown.constructor.name === "$ZodAsyncError";
  if (isAsync) return "The schema checks asynchronously; a tool's schema must answer at once.";
  return `The schema itself failed: ${thrown instanceof Error ? thrown.message : "it threw a value that is no Error"}.`;
}

function isZodSchema(value: unknown): boolean {
  if (typeof value !== "object" || value === null || !("_zod" in value)) return false;
  return "safeParse" in value && typeof value.safeParse === "function";
}
