import { registryError } from "../../errors/registry.ts";
import type { JsonSchema } from "../../schema/values/json.ts";
import { followPointer, isSchemaObject } from "../json-schema/walk-schema.ts";

/** Spec 2: these come from the request itself, never through args. */
const INFRASTRUCTURE_NAMES: readonly string[] = ["supabase", "sessionId"];

/** Throws `infrastructure_in_args` when a schema takes infrastructure as a top-level field, in whatever combination. */
export function refuseInfrastructureInArgs(owner: string, schema: JsonSchema): void {
  const names = topLevelNames(schema).filter((name) => INFRASTRUCTURE_NAMES.includes(name));
  if (names.length === 0) return;
  throw registryError(
    "infrastructure_in_args",
    `${owner} declares ${listed(names)} in its argsSchema. That is infrastructure: take it from the request (request.${names[0] ?? ""}), not from args.`,
    { details: { names } },
  );
}

/** The infrastructure among some defaults, if any. */
export function infrastructureIn(defaults: Readonly<Record<string, unknown>>): readonly string[] {
  return INFRASTRUCTURE_NAMES.filter((name) => Object.hasOwn(defaults, name));
}

export function infrastructureInDefaults(owner: string, names: readonly string[]): Error {
  return registryError(
    "infrastructure_in_defaults",
    `${owner} returns ${listed(names)} from getDefaultArgs. That is infrastructure: it reaches the action through the request, not through args.`,
    { details: { names } },
  );
}

function listed(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(" and ");
}

function topLevelNames(root: JsonSchema): readonly string[] {
  if (!isSchemaObject(root)) return [];
  const names = new Set<string>();
  const seen = new Set<object>();
  const open: unknown[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isSchemaObject(node) || seen.has(node)) continue;
    seen.add(node);
    for (const keyword of ["properties", "patternProperties"]) {
      if (isSchemaObject(node[keyword])) for (const name of Object.keys(node[keyword])) names.add(name);
    }
    if (Array.isArray(node["required"])) for (const name of node["required"]) names.add(String(name));
    for (const keyword of ["allOf", "anyOf", "oneOf"]) {
      if (Array.isArray(node[keyword])) open.push(...(node[keyword] as readonly unknown[]));
    }
    for (const keyword of ["if", "then", "else"]) open.push(node[keyword] ?? true);
    if (typeof node["$ref"] === "string") open.push(followPointer(root, node["$ref"])?.value ?? true);
  }
  return [...names];
}
