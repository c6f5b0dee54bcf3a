import { canonicalJson } from "../../schema/values/hash.ts";
import { jsonProblem, type JsonSchema } from "../../schema/values/json.ts";
import { compileJsonSchema, type JsonSchemaValidator } from "./compile.ts";
import type { SchemaRules } from "./check-schema.ts";

const MAX_CACHED_SCHEMAS = 256;

export type JsonSchemas = {
  /** Answers at once for a schema that was compiled before; throws or rejects with `schema_invalid`. */
  compile(schema: JsonSchema, rules?: SchemaRules): JsonSchemaValidator | Promise<JsonSchemaValidator>;
};

/** Compiled schemas by their content, the least recently used one dropped at the bound. */
export function createJsonSchemas(maxCached = MAX_CACHED_SCHEMAS): JsonSchemas {
  const cache = new Map<string, JsonSchemaValidator>();
  return {
    compile(schema, rules = { unsupportedPatterns: "refuse" }) {
      // What is no JSON has no key; the compiler says what is wrong with it.
      if (jsonProblem(schema) !== undefined) return compileJsonSchema(schema, rules);
      const key = `${rules.unsupportedPatterns} ${canonicalJson(schema)}`;
      const known = cache.get(key);
      if (known === undefined) return compileJsonSchema(schema, rules).then((compiled) => remember(key, compiled));
      cache.delete(key);
      return remember(key, known);
    },
  };

  function remember(key: string, validator: JsonSchemaValidator): JsonSchemaValidator {
    cache.set(key, validator);
    const oldest = cache.size > maxCached ? cache.keys().next().value : undefined;
    if (oldest !== undefined) cache.delete(oldest);
    return validator;
  }
}
