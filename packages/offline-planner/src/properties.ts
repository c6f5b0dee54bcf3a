import type { JsonObject, Tool } from "@ergon/core";

/** A tool's arguments with their schemas. */
export function propertiesOf({ parameters }: Tool): readonly (readonly [string, JsonObject])[] {
  if (!isSchemaObject(parameters) || !isSchemaObject(parameters["properties"])) return [];
  return Object.entries(parameters["properties"]).flatMap(([name, schema]) =>
    isSchemaObject(schema) ? [[name, schema] as const] : [],
  );
}

export function requiredOf({ parameters }: Tool): ReadonlySet<unknown> {
  return new Set(isSchemaObject(parameters) && Array.isArray(parameters["required"]) ? parameters["required"] : []);
}

export function isSchemaObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
