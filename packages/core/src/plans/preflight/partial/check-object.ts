import { copyJson, type JsonObject } from "../../../schema/values/json.ts";
import { suggest } from "../../../schema/values/suggest.ts";
import { isSchemaObject } from "../../../tools/json-schema/walk-schema.ts";
import { isList } from "../../pointer/json-shape.ts";
import { both, canGrow, type Check, checkChild, fail, note, quietly, type Verdict } from "./check.ts";

type Value = Readonly<Record<string, unknown>>;

export function checkObject(check: Check, schema: JsonObject, value: Value): Verdict {
  const properties = isSchemaObject(schema["properties"]) ? schema["properties"] : {};
  if (check.fillDefaults && check.composite === 0) fillDefaults(properties, value);
  let verdict = checkRequired(check, schema["required"], properties, value);
  verdict = both(verdict, checkProperties(check, schema, properties, value));
  verdict = both(verdict, checkCounts(check, schema, value));
  if (Object.hasOwn(schema, "propertyNames"))
    verdict = both(verdict, checkNames(check, schema["propertyNames"], value));
  verdict = both(verdict, checkDependencies(check, schema, value));
  const unevaluated = schema["unevaluatedProperties"];
  if (unevaluated !== undefined && unevaluated !== true) verdict = both(verdict, "unknown");
  // What fits now may not fit once it has grown; as an alternative it must not count as chosen.
  return canGrow(check) && check.composite > 0 ? both(verdict, "unknown") : verdict;
}

function fillDefaults(properties: JsonObject, value: Value): void {
  for (const [name, property] of Object.entries(properties)) {
    if (!isSchemaObject(property) || property["default"] === undefined || Object.hasOwn(value, name)) continue;
    Object.defineProperty(value, name, {
      value: copyJson(property["default"]),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
}

function checkRequired(check: Check, required: unknown, properties: JsonObject, value: Value): Verdict {
  let verdict: Verdict = "valid";
  for (const name of isList(required) ? required : []) {
    if (typeof name !== "string" || Object.hasOwn(value, name)) continue;
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const hasDefault = isSchemaObject(property) && property["default"] !== undefined;
    if (hasDefault && check.composite === 0) continue;
    const certainty = canGrow(check) ? "possible" : "certain";
    note(check, { keyword: "required", message: `"${name}" is required.`, certainty, path: [...check.path, name] });
    verdict = both(verdict, canGrow(check) ? "unknown" : "invalid");
  }
  return verdict;
}

function checkProperties(check: Check, schema: JsonObject, properties: JsonObject, value: Value): Verdict {
  const patterns = isSchemaObject(schema["patternProperties"]) ? Object.entries(schema["patternProperties"]) : [];
  const others = schema["additionalProperties"];
  let verdict: Verdict = "valid";
  for (const name of Object.keys(value)) {
    if (check.stepsLeft < 0) return both(verdict, "unknown");
    let isListed = Object.hasOwn(properties, name);
    if (isListed) verdict = both(verdict, checkChild(check, name, properties[name], value[name]));
    for (const [source, property] of patterns) {
      check.stepsLeft -= 1;
      const pattern = check.pattern(source);
      const matches = pattern?.test(name);
      isListed ||= matches !== false;
      if (matches === true) verdict = both(verdict, checkChild(check, name, property, value[name]));
      if (matches === undefined) verdict = both(verdict, "unknown");
    }
    if (isListed || others === undefined || others === true) continue;
    if (others === false) verdict = refuseName(check, name, Object.keys(properties));
    else verdict = both(verdict, checkChild(check, name, others, value[name]));
  }
  return verdict;
}

function refuseName(check: Check, name: string, known: readonly string[]): Verdict {
  // A suggestion compares with every known name.
  check.stepsLeft -= known.length;
  const message = unknownName(name, known);
  note(check, { keyword: "additionalProperties", message, certainty: "certain", path: [...check.path, name] });
  return "invalid";
}

function unknownName(name: string, known: readonly string[]): string {
  const meant = suggest(name, known);
  if (meant !== undefined) return `"${name}" is not known here. Did you mean "${meant}"?`;
  return `"${name}" is not known here.${known.length === 0 ? "" : ` Known are: ${known.slice(0, 20).join(", ")}.`}`;
}

function checkCounts(check: Check, schema: JsonObject, value: Value): Verdict {
  const { minProperties, maxProperties } = schema;
  if (minProperties === undefined && maxProperties === undefined) return "valid";
  const count = Object.keys(value).length;
  if (typeof maxProperties === "number" && count > maxProperties) {
    return fail(check, "maxProperties", `It must have ${String(maxProperties)} fields or fewer.`);
  }
  if (typeof minProperties === "number" && count < minProperties) {
    if (canGrow(check)) return "unknown";
    return fail(check, "minProperties", `It must have ${String(minProperties)} fields or more.`);
  }
  return "valid";
}

function checkNames(check: Check, schema: unknown, value: Value): Verdict {
  let verdict: Verdict = "valid";
  for (const name of Object.keys(value)) {
    const answer = quietly(check, () => check.descend(check, schema, name));
    if (answer.verdict === "invalid") fail(check, "propertyNames", `"${name}" is not an allowed name here.`);
    verdict = both(verdict, answer.verdict);
  }
  return verdict;
}

function checkDependencies(check: Check, schema: JsonObject, value: Value): Verdict {
  const keywords =
    check.dialect === "draft-07" ? ["dependencies"] : ["dependencies", "dependentRequired", "dependentSchemas"];
  let verdict: Verdict = "valid";
  for (const keyword of keywords) {
    const dependencies = schema[keyword];
    if (!isSchemaObject(dependencies)) continue;
    for (const [name, needed] of Object.entries(dependencies)) {
      if (!Object.hasOwn(value, name)) continue;
      verdict = both(
        verdict,
        isList(needed) ? checkRequired(check, needed, {}, value) : check.descend(check, needed, value),
      );
    }
  }
  return verdict;
}
