import type { ValidateFunction } from "ajv";
import { registryError } from "../../errors/registry.ts";
import { copyJson, type Json, type JsonObject, type JsonSchema } from "../../schema/values/json.ts";
import type { Issue, Validated } from "../tool.ts";
import { issuesOf } from "./ajv-issues.ts";
import { schemaIssues, type SchemaRules } from "./check-schema.ts";
import { dialectOf } from "./dialect.ts";
import { loadAjv, type AjvMaker } from "./load-ajv.ts";
import { prepareSchema } from "./prepare-schema.ts";
import { MAX_STEPS_FOR_ALL_ISSUES, StepsExhausted, createStepBudget, stepsFor } from "./step-budget.ts";

/** Never throws and never changes its input; where the schema has defaults, `value` is a copy that has them. */
export type JsonSchemaValidator = (value: unknown) => Validated<unknown>;

/** Compiles a JSON Schema; throws `schema_invalid` with all that is wrong with it. */
export async function compileJsonSchema(
  schema: JsonSchema,
  rules: SchemaRules = { unsupportedPatterns: "refuse" },
): Promise<JsonSchemaValidator> {
  const issues = schemaIssues(schema, rules);
  if (issues.length > 0) throw schemaInvalid(issues);
  if (typeof schema === "boolean") return schema ? acceptAll : refuseAll;
  const dialect = dialectOf(schema);
  if (dialect === undefined) return acceptAll;
  return createValidator(schema, await loadAjv(dialect));
}

function createValidator(schema: JsonObject, makeAjv: AjvMaker): JsonSchemaValidator {
  const prepared = prepareSchema(schema);
  const budget = createStepBudget();
  const checkAll = compileWith(makeAjv(budget, true), prepared.schema);
  let checkFirst: ValidateFunction | undefined;
  const check = (value: unknown): ValidateFunction => {
    try {
      budget.reset(MAX_STEPS_FOR_ALL_ISSUES);
      checkAll(value);
      return checkAll;
    } catch (thrown) {
      if (!(thrown instanceof StepsExhausted)) throw thrown;
    }
    checkFirst ??= compileWith(makeAjv(budget, false), prepared.schema);
    budget.reset(stepsFor(value));
    checkFirst(value);
    return checkFirst;
  };
  return (value) => {
    try {
      const copy = prepared.hasDefaults ? copyJson(value as Json) : value;
      const { errors } = check(copy);
      if (errors === null || errors === undefined) return { ok: true, value: copy };
      return { ok: false, issues: issuesOf(errors, schema, value) };
    } catch (thrown) {
      return { ok: false, issues: [{ path: "", code: "too_complex", message: tooComplex(thrown) }] };
    }
  };
}

function compileWith(ajv: ReturnType<AjvMaker>, schema: JsonObject): ValidateFunction {
  try {
    return ajv.compile(schema);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw schemaInvalid([{ path: "", code: "compile", message: `It does not compile: ${message}.` }], cause);
  }
}

function schemaInvalid(issues: readonly Issue[], cause?: unknown): Error {
  const listed = issues.map(({ path, message }) => (path === "" ? message : `at ${path}: ${message}`)).join(" ");
  return registryError("schema_invalid", `The JSON Schema is not valid: ${listed}`, { details: { issues }, cause });
}

function tooComplex(thrown: unknown): string {
  if (thrown instanceof StepsExhausted) {
    return "Checking this value takes too long: the schema asks for more work than a value of this size is worth.";
  }
  const reason = thrown instanceof Error ? thrown.message : "unknown";
  return `This value could not be checked (${reason}); does the schema refer to itself without end?`;
}

const acceptAll: JsonSchemaValidator = (value) => ({ ok: true, value });
const refuseAll: JsonSchemaValidator = () => ({
  ok: false,
  issues: [{ path: "", code: "false_schema", message: "The schema is false: it takes no value." }],
});
