import type { JsonObject } from "@ergon/core";
import { z } from "zod";
import { type Setting, SETTINGS } from "./settings-table.ts";

/** The JSON Schema (2020-12) of `ergon.config.json`, for editors. Secrets are read from the environment alone. */
export function settingsJsonSchema(): JsonObject {
  const named = Object.entries<Setting<unknown>>(SETTINGS).filter(([, setting]) => setting.secret !== true);
  const properties = named.map(([name, { kind, env, description, fallback }]) => {
    const { $schema: _, ...type } = z.toJSONSchema(kind.schema(), { io: "output", unrepresentable: "any" });
    const words = `${description.charAt(0).toUpperCase()}${description.slice(1)}. The environment variable ${env} overrides it.`;
    const byDefault = fallback === undefined ? {} : { default: fallback };
    return [name, { description: words, ...type, ...byDefault }];
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Ergon project settings",
    description: "Settings of the Ergon commands that run in this folder. Read only in a folder that the user trusts.",
    type: "object",
    properties: {
      $schema: { type: "string", description: "The JSON Schema of this file, for editors." },
      ...(Object.fromEntries(properties) as JsonObject),
    },
    additionalProperties: false,
  };
}
