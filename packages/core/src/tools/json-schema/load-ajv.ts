import type { Ajv, Options } from "ajv";
import { canonicalJson } from "../../schema/values/hash.ts";
import type { Json } from "../../schema/values/json.ts";
import type { Dialect } from "./dialect.ts";
import { safePattern, type SafePattern } from "./pattern.ts";
import type { StepBudget } from "./step-budget.ts";

export const STEP_KEYWORD = "x-ergon-steps";

export type AjvMaker = (budget: StepBudget, allErrors: boolean) => Ajv;

/** The compiler costs more to load than all of core, so it is loaded when the first JSON Schema is to be compiled. */
export async function loadAjv(dialect: Dialect): Promise<AjvMaker> {
  const [{ _: code }, formats, make] = await Promise.all([
    import("ajv"),
    import("ajv-formats"),
    constructorOf(dialect),
  ]);
  return (budget, allErrors) => {
    const ajv = make({ ...OPTIONS, allErrors, code: { regExp: regExpWith(budget) } });
    formats.default.default(ajv);
    boundFormats(ajv);
    ajv.addKeyword({
      keyword: STEP_KEYWORD,
      schemaType: "number",
      // Before anything that leads to other schemas, so that no way around the count is left.
      before: "$ref",
      code(cxt) {
        const step = cxt.gen.scopeValue("func", { ref: budget.step });
        cxt.gen.code(code`${step}(${Number(cxt.schema)})`);
      },
    });
    // The compiler's own compares each item with each other: quadratic, a minute for a hundred thousand items.
    ajv.removeKeyword("uniqueItems");
    ajv.addKeyword({
      keyword: "uniqueItems",
      type: "array",
      schemaType: "boolean",
      validate: (wanted: boolean, items: readonly Json[]) => !wanted || areUnique(items, budget),
      errors: false,
    });
    return ajv;
  };
}

const OPTIONS: Options = {
  // Servers' schemas carry keywords and formats of their own; what we do not know is an annotation.
  strict: false,
  logger: false,
  // The checker has looked already, and the meta-schemas alone would double the time to the first call.
  meta: false,
  validateSchema: false,
  // An object's inherited names (constructor, toString) are not its fields.
  ownProperties: true,
  useDefaults: true,
  multipleOfPrecision: 9,
};

async function constructorOf(dialect: Dialect): Promise<(options: Options) => Ajv> {
  switch (dialect) {
    case "draft-07": {
      const { Ajv } = await import("ajv");
      return (options) => new Ajv(options);
    }
    case "2019-09": {
      const { Ajv2019 } = await import("ajv/dist/2019.js");
      return (options) => new Ajv2019(options);
    }
    case "2020-12": {
      const { Ajv2020 } = await import("ajv/dist/2020.js");
      return (options) => new Ajv2020(options);
    }
  }
}

/** Some formats' expressions are quadratic; a text that has one of these formats is short. */
function boundFormats(ajv: Ajv): void {
  for (const [name, format] of Object.entries(ajv.formats)) {
    if (LONG_FORMATS.includes(name)) continue;
    if (format instanceof RegExp) ajv.addFormat(name, (text: string) => isShort(text) && format.test(text));
    else if (isPlainFormat(format)) ajv.addFormat(name, (text: string) => isShort(text) && format(text));
  }
}

export const MAX_FORMAT_LENGTH = 8_192;
const LONG_FORMATS: readonly string[] = ["byte", "binary", "password"];

function isShort(text: string): boolean {
  return text.length <= MAX_FORMAT_LENGTH;
}

function isPlainFormat(format: unknown): format is (text: string) => boolean {
  return typeof format === "function";
}

type RegExpMaker = NonNullable<NonNullable<Options["code"]>["regExp"]>;

function regExpWith(budget: StepBudget): RegExpMaker {
  const make = (source: string): SafePattern & { readonly toString: () => string } => {
    const answer = safePattern(source);
    // Only reached where unsupported patterns are to be ignored: the checker refuses them otherwise.
    if (!answer.ok) return { test: () => true, toString: () => source };
    const { test } = answer.pattern;
    return {
      // The compiler keeps patterns by their text: without one of its own each would stand for all.
      toString: () => source,
      test(text) {
        budget.step(1 + (text.length >> 6));
        return test(text);
      },
    };
  };
  return Object.assign(make, { code: "new RegExp" });
}

function areUnique(items: readonly Json[], budget: StepBudget): boolean {
  const seen = new Set<Json>();
  for (const item of items) {
    budget.step(1);
    // A container and a string with the same text must stay apart.
    const key =
      typeof item === "object" && item !== null
        ? `json ${canonicalJson(item)}`
        : typeof item === "string"
          ? `text ${item}`
          : item;
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return true;
}
