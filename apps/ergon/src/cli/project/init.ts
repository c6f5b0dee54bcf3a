import { existsSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { usageError } from "@ergon/core/schema";
import { PROJECT_FILE, processEnvironment, stateFolder, trustProject } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { oneLine } from "../output/printable.ts";
import { planFiles, type ProjectFile, testFile, toolFiles } from "./new-parts.ts";
import { mergePackage } from "./project-package.ts";
import { writeNew } from "./write-new.ts";

/** A project that runs, with its own types and a test. What is there already stays as it is. */
export async function initProject({ terminal, version }: CommandContext, given: string): Promise<ExitCode> {
  const folder = resolve(given);
  if (existsSync(join(folder, PROJECT_FILE))) {
    throw usageError("input_invalid", `${join(folder, PROJECT_FILE)} is there already. Add to it: ergon new tool NAME`);
  }
  const manifest = join(folder, "package.json");
  const merged = mergePackage(existsSync(manifest) ? readFileSync(manifest, "utf8") : undefined, {
    name: basename(folder),
    version,
  });
  const files = projectFiles();
  await writeNew(folder, files, [{ path: "package.json", text: merged }]);
  await trustProject(stateFolder(processEnvironment().env), folder);
  if (terminal.json) {
    terminal.printJson({ folder, files: ["package.json", ...files.map(({ path }) => path)] });
    return EXIT.ok;
  }
  terminal.print(`Made a project in ${oneLine(folder)}:`);
  for (const { path } of files) terminal.print(`  ${path}`);
  const here = folder === process.cwd() ? "" : `cd ${oneLine(given)} && `;
  const install = existsSync(join(folder, "node_modules", "ergon")) ? "" : "npm install && ";
  terminal.note(`Go on with: ${here}${install}npm test`);
  terminal.note(`Then:       npx ergon run hello --input '{"who":"Ada"}'   and npx ergon dev`);
  return EXIT.ok;
}

function projectFiles(): readonly ProjectFile[] {
  const tool = toolFiles({ id: "hello::greet", path: "greet", last: "greet" }).capability;
  const { path, text } = planFiles({ id: "hello", path: "hello", last: "hello" }).capability;
  const plan = { ...(JSON.parse(text) as Record<string, unknown>), ...HELLO };
  const test = testFile("hello", [
    `  const run = await ergon.run("hello", { who: "Ada" });`,
    `  assert.equal(await run.result(), "Hello, Ada!");`,
  ]);
  return [
    {
      path: PROJECT_FILE,
      text: json({ $schema: "./node_modules/ergon/ergon.config.schema.json", capabilities: ["capabilities"] }),
    },
    { path: join("capabilities", tool.path), text: tool.text },
    { path: join("capabilities", path), text: json(plan) },
    { path: join("test", test.path), text: test.text },
    { path: "tsconfig.json", text: json(TSCONFIG) },
    { path: ".gitignore", text: "node_modules/\n.ergon/\n" },
  ];
}

const HELLO = {
  startStepId: "greet",
  steps: [
    {
      id: "greet",
      type: "tool_call",
      toolId: "hello::greet",
      arguments: { who: { jsonPath: "$.promptInput.who" } },
      saveAs: "greeted",
      nextStepId: "done",
    },
    { id: "done", type: "final_response", message: { jsonPath: "$.context.greeted.greeting" } },
  ],
};

const TSCONFIG = {
  compilerOptions: {
    target: "ES2024",
    lib: ["ES2024", "ESNext.Disposable"],
    module: "NodeNext",
    types: ["node"],
    strict: true,
    noEmit: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    allowImportingTsExtensions: true,
    // The declarations of a dependency do not pass without the DOM library.
    skipLibCheck: true,
  },
  include: ["capabilities", "test"],
};

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
