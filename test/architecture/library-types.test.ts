import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "./source-files.ts";

const PROGRAM = `
import { defineAction, definePlan, defineTool, z } from "ergon";

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
definePlan({ planId: "p", startStepId: "dnoe", steps: [{ ...done, message: "Done." }] });
definePlan({ planId: "p", startStepId: "charge", steps: [{ ...step, arguments: { order: "A" } }] }, { tools });
definePlan({ planId: "p", startStepId: "done", steps: [{ ...done, message: { jsonPath: "$.input.name" } }] });
definePlan({
  planId: "p",
  startStepId: "if",
  steps: [
    { ...done, message: "Done." },
    {
      id: "if",
      type: "conditional_branch",
      condition: { left: 1, operator: "equals", right: 1 },
      onTrue: { nextStepId: "gone" },
      onFalse: { nextStepId: "done" },
    },
  ],
});
defineAction<{ readonly rows: number }>()({ id: "a", description: "d", argsSchema: z.object({}), actionFn: async ({ supabase }) => ({ success: true, message: supabase.rows }) });
defineTool({ name: "x", description: "d", input: z.object({}), argsSchema: z.object({}), run: () => 1 });
defineTool({ name: "x", description: "d", input: z.object({}), output: z.object({ n: z.number() }), run: () => ({ n: "1" }) });
// Ids of all lists, however deep, and keys that are saved there.
definePlan(
  {
    planId: "deep",
    startStepId: "each",
    steps: [
      {
        id: "each",
        type: "loop_over_items",
        collectionPath: { jsonPath: "$.promptInput.orders" },
        itemAlias: "order",
        loopPlan: [
          {
            id: "both",
            type: "parallel_branch",
            branches: [
              {
                steps: [
                  {
                    id: "again",
                    type: "loop_over_items",
                    collectionPath: { jsonPath: "$.context.order.parts" },
                    itemAlias: "part",
                    loopPlan: [
                      {
                        id: "inner",
                        type: "parallel_branch",
                        branches: [
                          {
                            steps: [
                              {
                                id: "charge",
                                type: "tool_call",
                                toolId: "shop::charge",
                                arguments: { order: { jsonPath: "$.context.part.id" }, cents: 100 },
                                saveAs: "receipt",
                                nextStepId: "tell",
                              },
                              {
                                id: "tell",
                                type: "tool_call",
                                toolId: "other::tell",
                                arguments: { any: ["thing", 1] },
                              },
                            ],
                          },
                        ],
                      },
                    ],
                  },
                ],
              },
            ],
          },
        ],
        nextStepId: "ask",
      },
      { id: "ask", type: "human_in_the_loop", message: "Go on?", saveAs: "ok", nextStepIdOnInput: "if" },
      {
        id: "if",
        type: "conditional_branch",
        condition: { left: { jsonPath: "$.context.ok" }, operator: "equals", right: true },
        onTrue: { nextStepId: "done" },
        onFalse: {},
      },
      { id: "done", type: "final_response", message: { jsonPath: "$.context.receipt[0].receipt" } },
    ],
  },
  { tools: [charge, "other::tell"] },
);
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
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const run = spawnSync(process.execPath, [compiler, ...OPTIONS, ...OF_SOURCES, "program.ts"], {
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
    ['startStepId: "dnoe"', `Type '"dnoe"' is not assignable to type '"done"'.`],
    ['arguments: { order: "A" } }', "Property 'cents' is missing"],
    ["$.input.name", "is not assignable to type 'Path<never>'"],
    ['nextStepId: "gone"', `Type '"gone"' is not assignable to type `],
    ["message: supabase.rows", "Type 'Promise<{ success: true; message: number; }>' is not"],
    ["argsSchema: z.object({}), run", "No overload matches this call."],
    ['n: "1"', "No overload matches this call."],
  ])("names the mistake in %s", (mistake, message) => {
    const line = PROGRAM.split("\n").findIndex((one) => one.includes(mistake)) + 1;
    const here = found.filter((one) => one.startsWith(`program.ts(${String(line)},`));
    expect(here, found.join("\n")).toHaveLength(1);
    expect(here[0]).toContain(message);
  });

  it("finds nothing else, in the right plans neither", () => {
    // The sources of Ergon are written for more checks than these, and are checked with them elsewhere.
    expect(found.filter((line) => line.startsWith("program.ts("))).toHaveLength(12);
  });
});
