// What `ergon new` and `ergon init` write: each part with the path that its kind is found by.
export const NEW_PARTS = { tool: toolFiles, action: actionFiles, plan: planFiles } as const;

export type ProjectFile = { readonly path: string; readonly text: string };

/** Below the folder of capabilities, and beside it in `test/`. */
export type PartFiles = { readonly capability: ProjectFile; readonly test: ProjectFile };

export type PartName = {
  /** The id in plans: `shop::charge`. */
  readonly id: string;
  /** The id as a path: `shop/charge`. */
  readonly path: string;
  /** The last part of the id: `charge`. */
  readonly last: string;
};

export function toolFiles({ id, path, last }: PartName): PartFiles {
  return {
    capability: {
      path: `${path}.tool.ts`,
      text: `import { defineTool, z } from "ergon";

export default defineTool({
  name: ${JSON.stringify(id)},
  description: "Greets someone by name.",
  // pure: computes, read: looks something up, idempotent: may be repeated, once: must not be repeated
  effects: "pure",
  input: z.object({ who: z.string().min(1).max(200) }),
  output: z.object({ greeting: z.string() }),
  run: async ({ who }) => ({ greeting: \`Hello, \${who}!\` }),
});
`,
    },
    test: testFile(last, [
      `  const output = await ergon.call(${JSON.stringify(id)}, { who: "Ada" });`,
      `  assert.deepEqual(output, { greeting: "Hello, Ada!" });`,
    ]),
  };
}

function actionFiles({ id, path, last }: PartName): PartFiles {
  return {
    capability: {
      path: `${path}/action.ts`,
      text: `import { defineAction, z } from "ergon";

export const ${last} = defineAction({
  id: ${JSON.stringify(id)},
  title: ${JSON.stringify(words(last))},
  description: "Greets someone by name.",
  applicableRoles: ["general"],
  capabilityTags: [],
  tags: [],
  suggestedPrerequisites: [],
  suggestedPostrequisites: [],
  usesAI: false,
  effects: "pure",
  argsSchema: z.object({ who: z.string().min(1).max(200) }),
  getDefaultArgs: () => ({}),
  actionFn: async ({ args }) => ({ success: true, message: \`Hello, \${args.who}!\` }),
});
`,
    },
    test: testFile(last, [
      `  const output = await ergon.call(${JSON.stringify(id)}, { who: "Ada" });`,
      `  assert.equal((output as { message: string }).message, "Hello, Ada!");`,
    ]),
  };
}

export function planFiles({ id, path, last }: PartName): PartFiles {
  const depth = "../".repeat(path.split("/").length);
  const plan = {
    $schema: `${depth}node_modules/ergon/plan.schema.json`,
    planId: id,
    description: "Greets someone.",
    parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
    startStepId: "done",
    steps: [{ id: "done", type: "final_response", message: { jsonPath: "$.promptInput.who" } }],
  };
  return {
    capability: { path: `${path}.plan.json`, text: `${JSON.stringify(plan, undefined, 2)}\n` },
    test: testFile(last, [
      `  const run = await ergon.run(${JSON.stringify(id)}, { who: "Ada" });`,
      `  assert.equal(await run.result(), "Ada");`,
    ]),
  };
}

/** A test opens the project's own parts, and keeps nothing. */
export function testFile(name: string, lines: readonly string[]): ProjectFile {
  return {
    path: `${name}.test.ts`,
    text: `import assert from "node:assert/strict";
import { test } from "node:test";
import { openErgon } from "ergon";

test(${JSON.stringify(name)}, async (t) => {
  const ergon = await openErgon({ data: "memory", capabilities: ["capabilities"] });
  t.after(() => ergon.close());
${lines.join("\n")}
});
`,
  };
}

function words(name: string): string {
  const spaced = name.replaceAll(/[-_]|(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  return `${spaced.charAt(0).toUpperCase()}${spaced.slice(1)}`;
}
