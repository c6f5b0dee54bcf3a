import { copyJson, type JsonObject } from "../../schema/values/json.ts";
import { STEP_KEYWORD } from "./load-ajv.ts";
import { subschemas, walkSchema } from "./walk-schema.ts";

export type PreparedSchema = { readonly schema: JsonObject; readonly hasDefaults: boolean };

/**
 * A copy for the compiler. Every schema that leads to others counts its steps; keywords that other tools put there
 * and that the compiler would stumble over are left out.
 */
export function prepareSchema(original: JsonObject): PreparedSchema {
  const schema = copyJson(original) as Record<string, unknown>;
  let hasDefaults = false;
  let usesIds = false;
  walkSchema(schema as JsonObject, ({ schema: node, path }) => {
    if (Object.hasOwn(node, "default")) hasDefaults = true;
    usesIds ||= (path.length > 0 && Object.hasOwn(node, "$id")) || refersByName(node);
    const edited = node as Record<string, unknown>;
    delete edited["$async"];
    delete edited["id"];
    if (!Object.hasOwn(node, "type")) delete edited["nullable"];
    const weight = stepWeight(node);
    if (weight > 1) edited[STEP_KEYWORD] = weight;
  });
  // An id that nothing refers to only brings the compiler's opinion about URIs.
  if (!usesIds) delete schema["$id"];
  delete schema["$schema"];
  return { schema: schema as JsonObject, hasDefaults };
}

function refersByName(node: JsonObject): boolean {
  const reference = node["$ref"];
  return typeof reference === "string" && !reference.startsWith("#");
}

function stepWeight(node: JsonObject): number {
  const references = Object.hasOwn(node, "$ref") || Object.hasOwn(node, "$dynamicRef") ? 1 : 0;
  const choices = Array.isArray(node["enum"]) ? node["enum"].length : 0;
  return 1 + references + choices + subschemas(node).length;
}
