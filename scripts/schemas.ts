// npm run schemas writes the JSON Schema files of the package `ergon`. A test fails if they are not current.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { planJsonSchema } from "@ergon/core/engine";
import { serversJsonSchema, settingsJsonSchema } from "@ergon/node";

const folder = join(import.meta.dirname, "../apps/ergon");

export const SCHEMA_FILES = [
  { file: join(folder, "plan.schema.json"), schema: planJsonSchema },
  { file: join(folder, "mcp-servers.schema.json"), schema: serversJsonSchema },
  { file: join(folder, "ergon.config.schema.json"), schema: settingsJsonSchema },
] as const;

export function schemaText(schema: () => unknown): string {
  return `${JSON.stringify(schema(), undefined, 2)}\n`;
}

if (import.meta.main) for (const { file, schema } of SCHEMA_FILES) writeFileSync(file, schemaText(schema));
