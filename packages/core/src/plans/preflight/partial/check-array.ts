import { canonicalJson } from "../../../schema/values/hash.ts";
import type { Json, JsonObject } from "../../../schema/values/json.ts";
import { isList } from "../../pointer/json-shape.ts";
import { both, type Check, checkChild, fail, hasGap, quietly, type Verdict } from "./check.ts";

export function checkArray(check: Check, schema: JsonObject, items: readonly unknown[]): Verdict {
  const { minItems, maxItems } = schema;
  let verdict: Verdict = checkItems(check, schema, items);
  if (typeof minItems === "number" && items.length < minItems) {
    verdict = fail(check, "minItems", `It must have ${String(minItems)} items or more.`);
  }
  if (typeof maxItems === "number" && items.length > maxItems) {
    verdict = fail(check, "maxItems", `It must have ${String(maxItems)} items or fewer.`);
  }
  if (schema["uniqueItems"] === true) verdict = both(verdict, checkUnique(check, items));
  if (Object.hasOwn(schema, "contains")) verdict = both(verdict, checkContains(check, schema, items));
  const unevaluated = schema["unevaluatedItems"];
  return unevaluated === undefined || unevaluated === true || items.length === 0 ? verdict : both(verdict, "unknown");
}

function checkItems(check: Check, schema: JsonObject, items: readonly unknown[]): Verdict {
  const isModern = check.dialect === "2020-12";
  const listed = isModern ? schema["prefixItems"] : schema["items"];
  const first = isList(listed) ? listed : [];
  const rest = isModern ? schema["items"] : isList(schema["items"]) ? schema["additionalItems"] : schema["items"];
  let verdict: Verdict = "valid";
  const stop = rest === undefined ? Math.min(first.length, items.length) : items.length;
  for (let at = 0; at < stop && check.stepsLeft >= 0; at += 1) {
    verdict = both(verdict, checkChild(check, at, at < first.length ? first[at] : rest, items[at]));
  }
  return check.stepsLeft < 0 ? both(verdict, "unknown") : verdict;
}

function checkUnique(check: Check, items: readonly unknown[]): Verdict {
  const seen = new Set<unknown>();
  let verdict: Verdict = "valid";
  for (const item of items) {
    if (hasGap(check, item)) {
      verdict = items.length > 1 ? "unknown" : "valid";
      continue;
    }
    // A container and a string with the same text must stay apart.
    const key =
      typeof item === "object" && item !== null
        ? `json ${canonicalJson(item as Json)}`
        : typeof item === "string"
          ? `text ${item}`
          : item;
    if (seen.has(key)) return fail(check, "uniqueItems", "It must not hold the same item twice.");
    seen.add(key);
  }
  return verdict;
}

function checkContains(check: Check, schema: JsonObject, items: readonly unknown[]): Verdict {
  const counts = check.dialect !== "draft-07";
  const min = counts && typeof schema["minContains"] === "number" ? schema["minContains"] : 1;
  const max = counts && typeof schema["maxContains"] === "number" ? schema["maxContains"] : Infinity;
  let sure = 0;
  let possible = 0;
  items.forEach((item, at) => {
    const { verdict } = quietly(check, () => checkChild(check, at, schema["contains"], item));
    if (verdict === "valid") sure += 1;
    if (verdict !== "invalid") possible += 1;
  });
  if (possible < min)
    return fail(check, "contains", `It must contain at least ${String(min)} of the items that are wanted.`);
  if (sure > max) return fail(check, "contains", `It must contain at most ${String(max)} of the items that are named.`);
  return sure >= min && possible <= max ? "valid" : "unknown";
}
