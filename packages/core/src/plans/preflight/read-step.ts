import { suggest } from "../../schema/values/suggest.ts";
import { childPath } from "../pointer/json-location.ts";
import { isObject } from "../pointer/json-shape.ts";
import type { Problems } from "./problems.ts";
import { meantField, shapeProblems } from "./checks/shape-problems.ts";
import {
  isStepKind,
  LENIENT_STEP_FORMS,
  STEP_FORMS,
  STEP_KINDS,
  type StepForm,
  type StepKindName,
} from "./step-forms.ts";

/**
 * Reads one step and reports all that is wrong with its form. A step whose only faults are mistyped names, or values on
 * which nothing else rests, is read as it was meant, so that the rest of the preflight still says something about it.
 * Undefined when it cannot be read at all.
 */
export function readStep(raw: unknown, path: string, problems: Problems): StepForm | undefined {
  if (!isObject(raw)) {
    problems.error(path, "invalid_field", 'A step is an object with "id" and "type".');
    return undefined;
  }
  const kind = kindOf(raw["type"], path, problems);
  if (kind === undefined) return undefined;
  const typed = raw["type"] === kind ? raw : { ...raw, type: kind };
  const parsed = STEP_FORMS[kind].safeParse(typed);
  if (parsed.success) return parsed.data;
  const known = Object.keys(STEP_FORMS[kind].shape);
  shapeProblems(problems, { issues: parsed.error.issues, raw: typed, path, known });
  const again = LENIENT_STEP_FORMS[kind].safeParse(withMeantNames(typed, known));
  return again.success ? again.data : undefined;
}

function kindOf(type: unknown, path: string, problems: Problems): StepKindName | undefined {
  if (isStepKind(type)) return type;
  const at = childPath(path, "type");
  const listed = STEP_KINDS.join(", ");
  if (type === undefined) {
    problems.error(at, "missing_field", `"type" is required: one of ${listed}.`);
    return undefined;
  }
  const meant = typeof type === "string" ? suggest(type, STEP_KINDS) : undefined;
  const hint = meant === undefined ? ` The types are ${listed}.` : ` Did you mean "${meant}"?`;
  problems.error(at, "unknown_step_type", `${JSON.stringify(type).slice(0, 100)} is not a type of step.${hint}`);
  return isStepKind(meant) ? meant : undefined;
}

function withMeantNames(raw: Readonly<Record<string, unknown>>, known: readonly string[]): Record<string, unknown> {
  const meant: Record<string, unknown> = {};
  for (const key of known) if (Object.hasOwn(raw, key)) meant[key] = raw[key];
  for (const key of Object.keys(raw)) {
    const name = known.includes(key) ? undefined : meantField(key, known);
    if (name !== undefined && !Object.hasOwn(meant, name)) meant[name] = raw[key];
  }
  return meant;
}
