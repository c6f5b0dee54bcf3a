import type { ErrorObject } from "ajv";
import { pointerTo, type JsonObject } from "../../schema/values/json.ts";
import { MAX_ISSUES, propertyNames, unknownField, withMeantFields } from "../issues.ts";
import type { Issue } from "../tool.ts";

/** The compiler's errors in the one shape that every door shows. */
export function issuesOf(errors: readonly ErrorObject[], schema: JsonObject, value: unknown): readonly Issue[] {
  const issues = errors.slice(0, MAX_ISSUES).map((error) => issueOf(error, schema));
  return withMeantFields(issues, schema, value);
}

function issueOf(error: ErrorObject, schema: JsonObject): Issue {
  const { keyword, instancePath } = error;
  const params: Readonly<Record<string, unknown>> = error.params;
  switch (keyword) {
    case "required": {
      const name = String(params["missingProperty"]);
      return { path: instancePath + pointerTo([name]), code: "required", message: `"${name}" is required.` };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = params["additionalProperty"] ?? params["unevaluatedProperty"];
      const path = partsOf(instancePath);
      return unknownField([...path, String(name)], propertyNames(schema, path));
    }
    case "enum": {
      const allowed = Array.isArray(params["allowedValues"]) ? params["allowedValues"] : [];
      const listed = allowed
        .slice(0, 20)
        .map((choice) => JSON.stringify(choice))
        .join(", ");
      return { path: instancePath, code: keyword, message: `It must be one of ${listed}.` };
    }
    case "uniqueItems":
      return { path: instancePath, code: keyword, message: "It must not hold the same item twice." };
    default:
      return { path: instancePath, code: keyword, message: `It ${error.message ?? "is not valid"}.` };
  }
}

function partsOf(pointer: string): readonly (string | number)[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll("~1", "/").replaceAll("~0", "~")));
}
