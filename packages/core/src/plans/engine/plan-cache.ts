import { planError } from "../../errors/plan.ts";
import { canonicalJson, sha256Hex } from "../../schema/values/hash.ts";
import { jsonProblem, type Json } from "../../schema/values/json.ts";
import type { AgenticPlan } from "../../schema/plan.ts";
import type { Tool } from "../../tools/tool.ts";
import { checkInput } from "../preflight/checks/check-input.ts";
import { plainCopy } from "../preflight/plain-copy.ts";
import { createProblems } from "../preflight/problems.ts";
import { validatePlan } from "../validate-plan.ts";
import type { ToolSource } from "./engine-deps.ts";

/** Plans that passed preflight and are run again are not checked again: the newest, up to so many and so much text. */
export const MAX_CHECKED_PLANS = 64;
export const MAX_CHECKED_CHARS = 4 * 1024 * 1024;

type CheckedPlan = {
  readonly plan: AgenticPlan;
  readonly hash: string;
  /** The length of its text. */
  readonly chars: number;
  /** Whether the store has it, so that later runs need not bring it again. */
  isStored: boolean;
};

export type PlanCache = {
  /** The plan as preflight read it, and its input with defaults. Throws `plan_invalid` with every problem. */
  readonly check: (asked: {
    readonly plan: unknown;
    /** It has a name, and nobody changes the object. */
    readonly isNamed?: boolean;
    readonly input: Json | undefined;
    readonly role: string | undefined;
  }) => { readonly checked: CheckedPlan; readonly input: Json };
};

type Known = CheckedPlan & { readonly role: string | undefined; readonly tools: readonly Tool[] };

export function createPlanCache({ registry }: { readonly registry: ToolSource }): PlanCache {
  const known = new Map<string, Known>();
  const named = new WeakMap<object, Known>();
  let chars = 0;

  /** What preflight found holds while the same text meets the same tools in the same role; the input is always new. */
  function remembered(plan: unknown, isNamed: boolean, role: string | undefined): Known | undefined {
    const stands = (known: Known | undefined): boolean => known?.role === role && known?.tools === registry.list();
    const byName = isNamed ? named.get(plan as object) : undefined;
    if (stands(byName)) return byName;
    const found = known.get(textOf(plan));
    if (found === undefined || !stands(found)) return undefined;
    if (isNamed) named.set(plan as object, found);
    return found;
  }

  function remember(text: string, checked: CheckedPlan, role: string | undefined): Known {
    const entry = { ...checked, role, tools: registry.list() };
    if (text === "" || text.length > MAX_CHECKED_CHARS) return entry;
    forget(text);
    for (const oldest of known.keys()) {
      if (known.size < MAX_CHECKED_PLANS && chars + text.length <= MAX_CHECKED_CHARS) break;
      forget(oldest);
    }
    known.set(text, entry);
    chars += text.length;
    return entry;
  }

  function forget(text: string): void {
    if (known.delete(text)) chars -= text.length;
  }

  return {
    check: ({ plan, isNamed = false, input = {}, role }) => {
      const found = remembered(plan, isNamed, role);
      const fitting = found === undefined ? undefined : fittingInput(found.plan, input);
      if (found !== undefined && fitting !== undefined) return { checked: found, input: fitting };
      const copy = plainCopy(plan);
      const text = copy.ok ? JSON.stringify(copy.value) : "";
      const report = validatePlan(copy.ok ? copy.value : plan, {
        registry,
        input,
        ...(role === undefined ? {} : { role }),
      });
      if (!report.ok || report.plan === undefined) throw refused(report.problems);
      const hash = sha256Hex(canonicalJson(report.plan as unknown as Json));
      const checked = found ?? remember(text, { plan: report.plan, hash, chars: text.length, isStored: false }, role);
      return { checked, input: report.input ?? {} };
    },
  };
}

/** The text of what is plain JSON, "" for anything else; it finds a plan that was checked, and is never run itself. */
function textOf(plan: unknown): string {
  try {
    return jsonProblem(plan, { undefinedIsAbsent: true }) === undefined ? JSON.stringify(plan) : "";
  } catch {
    // A getter that throws; preflight says so.
    return "";
  }
}

/** Undefined when it does not fit: then preflight says why. */
function fittingInput({ parameters }: AgenticPlan, input: Json): Json | undefined {
  const problems = createProblems();
  const checked = checkInput(input, { parameters }, problems);
  return problems.hasErrors() ? undefined : checked;
}

function refused(problems: ReturnType<typeof validatePlan>["problems"]): Error {
  const errors = problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  const count = errors.length === 1 ? "a problem" : `${String(errors.length)} problems`;
  const message = `The plan or its input has ${count}: ${first === undefined ? "it cannot be read." : `${first.path}: ${first.message}`}`;
  return planError("plan_invalid", message, { details: { problems } });
}
