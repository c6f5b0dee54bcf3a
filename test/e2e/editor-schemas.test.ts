import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  type CompletionItem,
  type Diagnostic,
  getLanguageService,
  TextDocument,
  type JSONSchema,
} from "vscode-json-languageservice";
import { SCHEMA_FILES } from "../../scripts/schemas.ts";
import { ergon } from "./ergon.ts";

const folder = join(import.meta.dirname, "../../apps/ergon");
const service = getLanguageService({});
service.configure({
  schemas: ["plan", "mcp-servers"].map((name) => ({
    uri: `https://schemas.test/${name}`,
    fileMatch: [`*.${name}.json`],
    schema: JSON.parse(readFileSync(join(folder, `${name}.schema.json`), "utf8")) as JSONSchema,
  })),
});

/** What an editor knows of a text, with `|` where the cursor is. */
async function editing(kind: "plan" | "mcp-servers", text: string) {
  const source = text.replace("|", "");
  const document = TextDocument.create(`file:///x.${kind}.json`, "json", 1, source);
  const json = service.parseJSONDocument(document);
  const position = document.positionAt(Math.max(text.indexOf("|"), 0));
  const completed = await service.doComplete(document, position, json);
  const hover = await service.doHover(document, position, json);
  const problems = await service.doValidation(document, json, { schemaValidation: "error" });
  return {
    offered: (completed?.items ?? []).map(({ label }: CompletionItem) => label),
    hover: JSON.stringify(hover?.contents ?? ""),
    problems: problems.map(({ message }: Diagnostic) => message),
  };
}

const plan = (step: string): string =>
  `{"$schema": "https://schemas.test/plan", "planId": "p", "startStepId": "a", "steps": [{"id": "a", ${step}}]}`;

it.each(SCHEMA_FILES)("The file $file is what the sources say; npm run schemas writes it.", ({ file, schema }) => {
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(schema());
});

it("An editor offers the kinds of steps, and the fields of the kind that was chosen.", async () => {
  const kinds = await editing("plan", plan(`"type": |`));
  expect(kinds.offered).toContain('"tool_call"');
  expect(kinds.offered).toContain('"human_in_the_loop"');
  const fields = await editing("plan", plan(`"type": "tool_call", "toolId": "demo::greet", |`));
  expect(fields.offered).toEqual(expect.arrayContaining(["arguments", "saveAs", "retry", "onError", "nextStepId"]));
  const operators = await editing(
    "plan",
    plan(`"type": "conditional_branch", "onTrue": {}, "onFalse": {}, "condition": {"left": 1, "operator": |}`),
  );
  expect(operators.offered).toContain('"greater_than"');
});

it("An editor explains a field, and marks what is wrong.", async () => {
  expect((await editing("plan", plan(`"type": "tool_call", "tool|Id": "x"`))).hover).toContain("The tool to call");
  expect((await editing("plan", plan(`"type": "tool_call", "toolId": "x"`))).problems).toEqual([]);
  expect((await editing("plan", plan(`"type": "tool_call", "toolIdd": "x"`))).problems).not.toEqual([]);
});

it("An editor knows mcp-servers.json.", async () => {
  const server = (fields: string) => `{"servers": [{"id": "files", ${fields}}]}`;
  const fields = await editing("mcp-servers", server(`"command": "npx", |`));
  expect(fields.offered).toEqual(expect.arrayContaining(["access", "autoApprove", "env", "trusted"]));
  expect((await editing("mcp-servers", server(`"command": "npx"`))).problems).toEqual([]);
  expect((await editing("mcp-servers", server(`"command": "npx", "acess": {}`))).problems).not.toEqual([]);
  expect((await editing("mcp-servers", server(`"command": "npx", "url": "https://x.test"`))).problems).not.toEqual([]);
});

it("Every field of a plan has a description and an example.", () => {
  const schema = JSON.parse(readFileSync(join(folder, "plan.schema.json"), "utf8")) as JSONSchema;
  const types = [["AgenticPlan", schema], ...Object.entries(schema.$defs ?? {})] as readonly [string, JSONSchema][];
  const silent = types.flatMap(([name, { properties = {} }]) =>
    Object.entries(properties as Record<string, JSONSchema>)
      .filter(([, field]) => field.description === undefined || field.examples?.length === 0)
      .map(([field]) => `${name}.${field}`),
  );
  expect(silent).toEqual([]);
});

it("ergon plans schema prints the schema of plan files.", async () => {
  const { out, code } = await ergon(["plans", "schema"], { cwd: folder });
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual(JSON.parse(readFileSync(join(folder, "plan.schema.json"), "utf8")));
});
