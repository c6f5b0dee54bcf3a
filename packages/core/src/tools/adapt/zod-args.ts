import type { z } from "zod";
import { registryError } from "../../errors/registry.ts";
import type { JsonObject } from "../../schema/values/json.ts";
import type { Issue, ToolArgs, ToolBody } from "../tool.ts";
import { refuseInfrastructureInArgs } from "./infrastructure.ts";
import { inputJsonSchema, makesJson, outputJsonSchema, zodValidator } from "./zod-schema.ts";

export type ZodArgs = {
  readonly parameters: JsonObject;
  readonly check: Pick<ToolBody, "validateArgs" | "validatesAtCall">;
};

const ANY_ARGS: JsonObject = { type: "object" };

/** What an argsSchema says about a tool. Throws when it cannot be one. */
export function zodArgs(owner: string, schema: z.ZodType | undefined, requiredArgs: readonly string[] = []): ZodArgs {
  const shown = schema === undefined ? ANY_ARGS : inputJsonSchema(schema, owner);
  if (schema !== undefined) {
    refuseInfrastructureInArgs(owner, shown);
    refuseInfrastructureInArgs(owner, outputJsonSchema(schema, owner));
  }
  refuseNonObject(owner, shown);
  refuseUnknownRequired(owner, shown, requiredArgs);
  const parameters = withRequired({ ...shown, ...(takesObjects(shown) ? {} : ANY_ARGS) }, requiredArgs);
  const validate = schema === undefined ? undefined : zodValidator(schema, parameters);
  const validateArgs: ToolBody["validateArgs"] = (args) => {
    const missing = missingIssues(args, requiredArgs);
    const parsed = validate === undefined ? { ok: true as const, value: args } : validate(args);
    if (!parsed.ok) return { ok: false, issues: [...parsed.issues, ...missing.filter(notAmong(parsed.issues))] };
    if (missing.length > 0) return { ok: false, issues: missing };
    return isArgs(parsed.value) ? { ok: true, value: parsed.value } : { ok: false, issues: [NOT_AN_OBJECT] };
  };
  return { parameters, check: { validateArgs, validatesAtCall: schema !== undefined && !makesJson(schema) } };
}

const NOT_AN_OBJECT: Issue = {
  path: "",
  code: "not_an_object",
  message: "The schema turns args into something that is no object.",
};

function refuseNonObject(owner: string, shown: JsonObject): void {
  const { type } = shown;
  if (type === undefined || type === "object" || (Array.isArray(type) && type.includes("object"))) return;
  throw registryError(
    "tool_invalid",
    `${owner}: its argsSchema takes ${JSON.stringify(type)}, but args are always an object.`,
  );
}

function refuseUnknownRequired(owner: string, shown: JsonObject, requiredArgs: readonly string[]): void {
  const { properties } = shown;
  if (typeof properties !== "object" || properties === null) return;
  const unknown = requiredArgs.filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length === 0) return;
  const listed = unknown.map((name) => `"${name}"`).join(", ");
  throw registryError("tool_invalid", `${owner} requires the args ${listed}, which its argsSchema does not have.`);
}

function takesObjects(shown: JsonObject): boolean {
  return ["type", "$ref", "allOf", "anyOf", "oneOf"].some((keyword) => Object.hasOwn(shown, keyword));
}

function withRequired(shown: JsonObject, requiredArgs: readonly string[]): JsonObject {
  if (requiredArgs.length === 0) return shown;
  const declared = Array.isArray(shown["required"]) ? (shown["required"] as readonly string[]) : [];
  return { ...shown, required: [...new Set([...declared, ...requiredArgs])] };
}

function missingIssues(args: ToolArgs, requiredArgs: readonly string[]): readonly Issue[] {
  return requiredArgs
    .filter((name) => !Object.hasOwn(args, name) || args[name] === undefined)
    .map((name) => ({ path: `/${name}`, code: "required", message: `"${name}" is required.` }));
}

function notAmong(issues: readonly Issue[]): (issue: Issue) => boolean {
  return ({ path }) => !issues.some((other) => other.path === path);
}

function isArgs(value: unknown): value is ToolArgs {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
