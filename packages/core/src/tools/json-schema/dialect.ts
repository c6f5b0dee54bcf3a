import type { JsonObject } from "../../schema/values/json.ts";
import { walkSchema } from "./walk-schema.ts";

export type Dialect = "draft-07" | "2019-09" | "2020-12";

const DIALECTS: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ["json-schema.org/draft-06/schema", "draft-07"],
  ["json-schema.org/draft-07/schema", "draft-07"],
  ["json-schema.org/draft/2019-09/schema", "2019-09"],
  ["json-schema.org/draft/2020-12/schema", "2020-12"],
]);

/**
 * The dialect by `$schema`. Without one it is 2020-12, as MCP says, unless the document holds a list under `items`,
 * which only the older dialects have. Undefined for a dialect that we do not know.
 */
export function dialectOf(schema: JsonObject): Dialect | undefined {
  const declared = schema["$schema"];
  if (declared === undefined) return hasItemLists(schema) ? "draft-07" : "2020-12";
  if (typeof declared !== "string") return undefined;
  return DIALECTS.get(declared.replace(/^https?:\/\//, "").replace(/#$/, ""));
}

function hasItemLists(schema: JsonObject): boolean {
  let found = false;
  walkSchema(schema, (node) => {
    if (Array.isArray(node.schema["items"])) found = true;
  });
  return found;
}
