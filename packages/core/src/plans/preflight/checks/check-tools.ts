import { suggest } from "../../../schema/values/suggest.ts";
import { ToolId } from "../../../schema/tool.ts";
import { DEFAULT_ROLE, isForRole } from "../../../tools/known-tools.ts";
import type { Tool } from "../../../tools/tool.ts";
import { isSchemaObject } from "../../../tools/json-schema/walk-schema.ts";
import { childPath } from "../../pointer/json-location.ts";
import { asPointer } from "../../pointer/template.ts";
import { inAuthorsWords } from "./author-messages.ts";
import type { StepNode } from "../outline.ts";
import type { GapAt, ValueIssue } from "../partial/check.ts";
import { MAX_CHECK_STEPS } from "../partial/check-value.ts";
import { jsonTypeOf, type JsonType } from "../partial/json-type.ts";
import type { Problems } from "../problems.ts";
import type { StepForm } from "../step-forms.ts";
import type { Suggester } from "../suggester.ts";
import type { ToolIndex } from "../tool-index.ts";

/** Steps of checking arguments in one plan; beyond, arguments are left to the gate. */
export const MAX_ARGUMENT_WORK = 2_000_000;

export type ToolChecks = {
  readonly tools: ToolIndex;
  readonly role: string | undefined;
  /** The types that the pointer at a path can give, where they are known. */
  readonly typesAt: (path: string) => ReadonlySet<JsonType> | undefined;
  readonly work: { left: number };
  readonly suggester: Suggester;
};

/** Whether a step's tools exist and are for this role, and whether its arguments fit. */
export function checkToolCall(node: StepNode, checks: ToolChecks, problems: Problems): void {
  const { form } = node;
  if (form?.type !== "tool_call") return;
  const tool = checkTool(form.toolId, childPath(node.path, "toolId"), checks, problems);
  const own = tool === undefined ? [] : checkArguments(node, form, tool, checks, problems);
  for (const [at, id] of (form.alternatives ?? []).entries()) {
    const path = childPath(childPath(node.path, "alternatives"), at);
    const alternative = checkTool(id, path, checks, problems);
    if (alternative === undefined || alternative === tool) continue;
    const issues = argumentIssues(node, form, alternative, checks);
    reportAlternative(alternative, { path, issues: issues.filter((issue) => !own.some(isSame(issue))) }, problems);
  }
}

function checkTool(
  id: string,
  path: string,
  { tools, role, suggester }: ToolChecks,
  problems: Problems,
): Tool | undefined {
  const tool = tools.get(id);
  if (tool === undefined) {
    // What is no id at all was reported with the step's form.
    if (!ToolId.safeParse(id).success) return undefined;
    const why = tools.whyAbsent(id);
    const more = () => (why === undefined ? suggester.sentence(id, tools.ids()) : ` ${why}`);
    problems.error(path, "unknown_tool", () => `There is no tool "${id}".${more()}`);
    return undefined;
  }
  if (isForRole(tool, role)) return tool;
  const roles = tool.applicableRoles.join(", ");
  if (role === undefined) {
    const message = `"${id}" is only for the roles ${roles}; a run without a role counts as "${DEFAULT_ROLE}".`;
    problems.warning(path, "role_denied", message);
  } else problems.error(path, "role_denied", `"${id}" is not for the role "${role}"; it is for ${roles}.`);
  return tool;
}

type ToolCallForm = Extract<StepForm, { type: "tool_call" }>;

function checkArguments(
  node: StepNode,
  form: ToolCallForm,
  tool: Tool,
  checks: ToolChecks,
  problems: Problems,
): readonly ValueIssue[] {
  const issues = argumentIssues(node, form, tool, checks);
  const pathOf = argumentPath(node);
  for (const issue of issues) report(issue, pathOf(issue.path), tool, problems);
  warnOfNearNames(form.arguments ?? {}, tool, { pathOf, work: checks.work }, problems);
  return issues;
}

function argumentIssues(node: StepNode, form: ToolCallForm, tool: Tool, checks: ToolChecks): readonly ValueIssue[] {
  if (checks.work.left <= 0) return [];
  const pathOf = argumentPath(node);
  const gapAt: GapAt = (value, path) => {
    const written = asPointer(value);
    if (written === undefined) return undefined;
    const types = checks.typesAt(pathOf(path));
    const fallback = written.fallback === undefined ? [] : [jsonTypeOf(written.fallback.value)];
    return { types: types === undefined ? undefined : new Set([...types, ...fallback]), name: `"${written.jsonPath}"` };
  };
  const args = form.arguments ?? {};
  const { issues, steps } = checks.tools.argumentsOf(tool)(args, {
    gapAt,
    // An action's getDefaultArgs may still bring what is missing.
    mayGrow: tool.origin === "action",
    maxSteps: Math.min(MAX_CHECK_STEPS, checks.work.left),
  });
  checks.work.left -= steps;
  return inAuthorsWords(issues, tool.argsSchema, args);
}

function argumentPath({ path }: StepNode): (path: readonly (string | number)[]) => string {
  const base = childPath(path, "arguments");
  return (inner) => inner.reduce<string>(childPath, base);
}

/** What the step's own tool refuses as well is said once. */
function isSame(issue: ValueIssue): (other: ValueIssue) => boolean {
  const key = JSON.stringify([issue.path, issue.message]);
  return (other) => JSON.stringify([other.path, other.message]) === key;
}

/** A warning: the step itself can run, and whoever calls the alternative may repair the arguments. */
function reportAlternative(
  { id }: Tool,
  { path, issues }: { readonly path: string; readonly issues: readonly ValueIssue[] },
  problems: Problems,
): void {
  const certain = issues.filter(({ certainty }) => certainty === "certain");
  if (certain.length === 0) return;
  const named = certain.slice(0, MAX_NAMED_ISSUES).map((issue) => {
    const at = issue.path.reduce<string>(childPath, "arguments");
    return ` ${at}: ${issue.message}`;
  });
  const more = certain.length > named.length ? ` And ${String(certain.length - named.length)} more.` : "";
  const message = `"${id}" does not take the arguments of this step.${named.join("")}${more}`;
  problems.warning(path, "alternative_mismatch", message);
}

/** Issues of one alternative that its problem names. */
export const MAX_NAMED_ISSUES = 5;

function report({ path, keyword, message, certainty }: ValueIssue, at: string, tool: Tool, problems: Problems): void {
  const name = String(path[0]);
  if (keyword === "required" && path.length === 1) {
    if (certainty === "certain") problems.error(at, "missing_argument", `"${tool.id}" needs the argument "${name}".`);
    else {
      const message = `"${tool.id}" needs the argument "${name}", unless its own defaults bring it.`;
      problems.warning(at, "missing_argument", message);
    }
  } else if (keyword === "additionalProperties" && path.length === 1) {
    problems.error(at, "unknown_argument", `"${tool.id}": ${message}`);
  } else if (keyword === "gap") problems.error(at, "type_mismatch", message);
  else problems.add(certainty === "certain" ? "error" : "warning", { path: at, code: "argument_invalid", message });
}

/** Where a tool takes any argument, a name that is nearly one of its own was most likely mistyped. */
function warnOfNearNames(
  args: Readonly<Record<string, unknown>>,
  tool: Tool,
  { pathOf, work }: { readonly pathOf: (path: readonly string[]) => string; readonly work: { left: number } },
  problems: Problems,
): void {
  const { parameters } = tool;
  if (!isSchemaObject(parameters) || !isSchemaObject(parameters["properties"])) return;
  if (OPEN_KEYWORDS.some((keyword) => parameters[keyword] !== undefined)) return;
  const missing = Object.keys(parameters["properties"]).filter((name) => !Object.hasOwn(args, name));
  if (missing.length === 0) return;
  for (const name of Object.keys(args)) {
    if (Object.hasOwn(parameters["properties"], name)) continue;
    work.left -= missing.length;
    const meant = work.left < 0 ? undefined : suggest(name, missing);
    if (meant === undefined) continue;
    const message = `"${tool.id}" has no argument "${name}" and may ignore it. Did you mean "${meant}"?`;
    problems.warning(pathOf([name]), "unknown_argument", message);
  }
}

/** With one of these, a tool may know more names than its properties say, or refuses the others by itself. */
const OPEN_KEYWORDS = ["additionalProperties", "patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if"];
