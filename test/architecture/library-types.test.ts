import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./source-files.ts";

const PROGRAM = `
import { definePlan, defineTool, z } from "ergon";

const charge = defineTool({
  name: "shop::charge",
  description: "Charges an order.",
  input: z.object({ order: z.string(), cents: z.number().int() }),
  output: z.object({ receipt: z.string() }),
  run: async ({ order }, { idempotencyKey, progress, signal, logger }) => {
    logger.info({ order, aborted: signal.aborted }, "Charging.");
    progress({ message: order });
    return { receipt: idempotencyKey };
  },
});

const done = { id: "done", type: "final_response", message: { jsonPath: "$.context.paid.receipt" } } as const;
const step = { id: "charge", type: "tool_call", toolId: "shop::charge", saveAs: "paid" } as const;

const tools = [charge] as const;
definePlan({ planId: "right", startStepId: "charge", steps: [{ ...step, arguments: { order: "A", cents: 1 }, nextStepId: "done" }, done] }, { tools });
definePlan({ planId: "p", startStepId: "charge", steps: [{ ...step, nextStepId: "doen" }, done] }, { tools });
definePlan({ planId: "p", startStepId: "charge", steps: [{ ...step, arguments: { order: "A", cents: "1" } }] }, { tools });
definePlan({ planId: "p", startStepId: "charge", steps: [{ ...step, nextStep: "done" }, done] }, { tools });
definePlan({ planId: "p", startStepId: "charge", steps: [{ ...step, toolId: "shop::chrage" }] }, { tools });
definePlan({ planId: "p", startStepId: "done", steps: [done] });
defineTool({ name: "x", description: "d", input: z.object({}), argsSchema: z.object({}), run: () => 1 });
defineTool({ name: "x", description: "d", input: z.object({}), output: z.object({ n: z.number() }), run: () => ({ n: "1" }) });
`;

/** Beside "ergon" itself, what a project has that was made with \`tsc --init\`. */
const OPTIONS = [
  "--strict",
  "--module",
  "nodenext",
  "--target",
  "es2024",
  "--types",
  "node",
  "--noEmit",
  "--pretty",
  "false",
];
/** Of the sources that stand for the package here, which a package has no need of. */
const OF_SOURCES = ["--allowImportingTsExtensions", "--skipLibCheck"];

let folder: string;
let found: readonly string[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-types-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(join(folder, "program.ts"), PROGRAM);
  const tests = join(root, "apps/ergon/src/library/define-plan.test-d.ts");
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const run = spawnSync(process.execPath, [compiler, ...OPTIONS, ...OF_SOURCES, "program.ts", tests], {
    cwd: folder,
    encoding: "utf8",
  });
  found = run.stdout.split("\n").filter((line) => line !== "");
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("under strict NodeNext the compiler", () => {
  it.each([
    ['nextStepId: "doen"', `Type '"doen"' is not assignable to type `],
    ['cents: "1"', "Type 'string' is not assignable to type 'Argument<number"],
    ["nextStep:", "'nextStep' does not exist in type"],
    ["shop::chrage", `Type '"shop::chrage"' is not assignable to type '"shop::charge"'.`],
    ["steps: [done]", `is not assignable to type 'Step<"done", never,`],
    ["argsSchema:", "No overload matches this call."],
    ['n: "1"', "No overload matches this call."],
  ])("names the mistake in %s", (mistake, message) => {
    const line = PROGRAM.split("\n").findIndex((one) => one.includes(mistake)) + 1;
    const here = found.filter((one) => one.startsWith(`program.ts(${String(line)},`));
    expect(here, found.join("\n")).toHaveLength(1);
    expect(here[0]).toContain(message);
  });

  it("finds nothing else, in the right plan and in the type tests neither", () => {
    // The sources of Ergon are written for more checks than these, and are checked with them elsewhere.
    expect(found.filter((line) => /^(program|.*define-plan\.test-d)\.ts\(/.test(line))).toHaveLength(7);
  });
});
