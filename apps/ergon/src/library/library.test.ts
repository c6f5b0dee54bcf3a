import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@ergon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { defineAction, definePlan, defineTool, type Ergon, openErgon, type OpenErgonOptions, z } from "../index.ts";

const charge = defineTool({
  name: "shop::charge",
  description: "Charges an order.",
  effects: "once",
  input: z.object({ order: z.string(), cents: z.number().int() }),
  output: z.object({ receipt: z.string() }),
  run: async ({ order, cents }) => ({ receipt: `${order} ${String(cents)}` }),
});
const checkout = definePlan(
  {
    planId: "checkout",
    parameters: { type: "object", required: ["order"] },
    startStepId: "confirm",
    steps: [
      { id: "confirm", type: "human_in_the_loop", message: "Charge it?", nextStepIdOnInput: "charge" },
      {
        id: "charge",
        type: "tool_call",
        toolId: "shop::charge",
        arguments: { order: { jsonPath: "$.promptInput.order" }, cents: 990 },
        saveAs: "paid",
        nextStepId: "done",
      },
      { id: "done", type: "final_response", message: { jsonPath: "$.context.paid" } },
    ],
  },
  { tools: [charge] },
);

let folder: string;
let opened: Ergon[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-library-"));
});
afterEach(async () => {
  await Promise.all(opened.map((one) => one.close()));
  opened = [];
  rmSync(folder, { recursive: true, force: true });
});

async function open(options: OpenErgonOptions = {}): Promise<Ergon> {
  const ergon = await openErgon({ data: "memory", logger: silentLogger, ...options });
  opened.push(ergon);
  return ergon;
}

const shop = { tools: [charge], plans: [checkout] };

describe("a run", () => {
  it("gives its events until it waits, takes an answer, and gives its result", async () => {
    const ergon = await open(shop);
    const run = await ergon.run("checkout", { order: "A-1" });
    const types: string[] = [];
    for await (const { type } of run.events()) types.push(type);
    expect(types).toEqual(["session-created", "session-started", "session-paused"]);
    const asked = await run.settled();
    expect(asked).toMatchObject({ status: "paused_on_human", waiting: [{ stepId: "confirm", message: "Charge it?" }] });
    await expect(run.result()).rejects.toMatchObject({ code: "run_waiting", details: { status: "paused_on_human" } });
    await run.answer({ ok: true }, { step: "confirm" });
    expect(await run.result()).toEqual({ receipt: "A-1 990" });
    expect(await run.settled()).toMatchObject({ status: "completed", result: { receipt: "A-1 990" }, waiting: [] });
    const all: number[] = [];
    for await (const { seq } of run.events()) all.push(seq);
    const later: string[] = [];
    for await (const { type } of run.events({ after: all[2] ?? 0, types: ["session-completed"] })) later.push(type);
    expect(later).toEqual(["session-completed"]);
    const again = await ergon.get(run.id);
    expect((await again.read()).history).toHaveLength(1);
    expect((await ergon.runs({ status: ["completed"] })).items.map(({ sessionId }) => sessionId)).toEqual([run.id]);
  });

  it("goes on by its id, from a plan that was never registered", async () => {
    const ergon = await open({ tools: [charge] });
    const { id } = await ergon.run(checkout, { order: "A-1" });
    await (await ergon.get(id)).answer(null);
    expect(await (await ergon.get(id)).result()).toEqual({ receipt: "A-1 990" });
    await expect(ergon.get("ses_gone")).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("is cancelled, and forked from one of its steps", async () => {
    const ergon = await open(shop);
    const run = await ergon.run("checkout", { order: "A-1" });
    await run.settled();
    expect(await run.cancel()).toMatchObject({ status: "cancelled" });
    await expect(run.result()).rejects.toMatchObject({ code: "run_cancelled" });
    const fork = await run.fork({ fromStep: "confirm", input: { order: "A-2" } });
    expect(fork.id).not.toBe(run.id);
    await fork.settled();
    await fork.answer(true);
    expect(await fork.result()).toEqual({ receipt: "A-2 990" });
  });

  it("that failed throws what it failed with, and one that is paused goes on as it is told", async () => {
    let fails = true;
    const flaky = defineTool({
      name: "flaky",
      description: "Fails at first.",
      effects: "idempotent",
      input: z.object({}),
      run: async () => {
        if (fails) throw new Error("no luck");
        return "luck";
      },
    });
    const step = { id: "go", type: "tool_call", toolId: "flaky", nextStepId: "done", saveAs: "got" } as const;
    const done = { id: "done", type: "final_response", message: { jsonPath: "$.context.got" } } as const;
    const plan = definePlan({ planId: "flaky", startStepId: "go", steps: [{ ...step, onError: "fail" }, done] });
    const pauses = definePlan({ planId: "pauses", startStepId: "go", steps: [step, done] });
    const ergon = await open({ tools: [flaky] });
    await expect((await ergon.run(plan)).result()).rejects.toMatchObject({ code: "tool_failed" });
    const run = await ergon.run(pauses);
    expect(await run.settled()).toMatchObject({ status: "paused_on_error", error: { code: "tool_failed" } });
    fails = false;
    await run.resume({ action: "retry" });
    expect(await run.result()).toBe("luck");
  });

  it("gives a large result whole", async () => {
    const large = defineTool({
      name: "large",
      description: "Says much.",
      effects: "pure",
      input: z.object({}),
      run: async () => "x".repeat(200_000),
    });
    const plan = definePlan({
      planId: "large",
      startStepId: "go",
      steps: [
        { id: "go", type: "tool_call", toolId: "large", saveAs: "much", nextStepId: "done" },
        { id: "done", type: "final_response", message: { jsonPath: "$.context.much" } },
      ],
    });
    const ergon = await open({ tools: [large] });
    expect(await (await ergon.run(plan)).result()).toHaveLength(200_000);
  });
});

describe("approvals", () => {
  const erase = defineTool({
    name: "erase",
    description: "Erases a file.",
    destructiveHint: true,
    input: z.object({ file: z.string() }),
    run: async ({ file }) => `${file} erased`,
  });
  const plan = definePlan({
    planId: "tidy",
    startStepId: "go",
    steps: [
      { id: "go", type: "tool_call", toolId: "erase", arguments: { file: "a" }, saveAs: "said", nextStepId: "done" },
      { id: "done", type: "final_response", message: { jsonPath: "$.context.said" } },
    ],
  });

  it("are listed, given and refused", async () => {
    const ergon = await open({ tools: [erase] });
    const run = await ergon.run(plan);
    await run.settled();
    const [question] = (await ergon.approvals()).items;
    expect(question).toMatchObject({ tool: "erase", parameters: { file: "a" }, sessionId: run.id });
    await ergon.approve(question?.id ?? "");
    expect(await run.result()).toBe("a erased");
    const refused = await ergon.run({ ...plan, planId: "again" });
    await refused.settled();
    const [other] = (await ergon.approvals()).items;
    await ergon.deny(other?.id ?? "", { feedback: "keep it" });
    expect(await refused.settled()).toMatchObject({ status: "paused_on_error", error: { code: "approval_denied" } });
    await expect(ergon.approve("apr_0")).rejects.toMatchObject({ code: "approval_not_found" });
  });

  it("are asked for a single call, which then runs as a session of its own", async () => {
    const ergon = await open({ tools: [erase] });
    const thrown: unknown = await ergon.call("erase", { file: "b" }).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: "approval_needed", details: { toolId: "erase" } });
    const { approvalId, sessionId } = (thrown as { details: { approvalId: string; sessionId: string } }).details;
    await ergon.approve(approvalId);
    const run = await ergon.get(sessionId);
    expect(await run.settled()).toMatchObject({ status: "completed" });
    expect((await run.read()).history.at(-1)?.result).toEqual({ output: "b erased" });
  });

  it("follow the program's policy, and the usual one where that says nothing", async () => {
    const policy: OpenErgonOptions["policy"] = ({ tool, args }) => {
      if (tool.id === "erase" && args["file"] === "cache") return { kind: "allow" };
      if (tool.id === "shop::charge") return { kind: "deny", reason: "closed today" };
      return undefined;
    };
    const ergon = await open({ tools: [erase, charge], policy });
    expect(await ergon.call("erase", { file: "cache" })).toBe("cache erased");
    await expect(ergon.call("erase", { file: "other" })).rejects.toMatchObject({ code: "approval_needed" });
    await expect(ergon.call("shop::charge", { order: "A", cents: 1 })).rejects.toThrow(/closed today/);
  });
});

describe("what is opened", () => {
  it("keeps nothing and makes no files in memory", async () => {
    const before = readdirSync(tmpdir());
    const ergon = await open(shop);
    await (await ergon.run("checkout", { order: "A-1" })).answer(1);
    await ergon.close();
    const made = readdirSync(tmpdir()).filter((name) => !before.includes(name));
    expect(made.filter((name) => /^ergon-[0-9a-f]{8}-/.test(name))).toEqual([]);
    expect(existsSync(".ergon")).toBe(false);
    const next = await open(shop);
    expect(await next.runs()).toEqual({ items: [] });
  });

  it("goes on in a data folder where the last one left off", async () => {
    const data = join(folder, "data");
    const first = await open({ ...shop, data });
    const { id } = await first.run("checkout", { order: "A-1" });
    await first.close();
    const second = await open({ ...shop, data });
    const run = await second.get(id);
    await run.answer(true);
    expect(await run.result()).toEqual({ receipt: "A-1 990" });
  });

  it("refuses a folder that is owned, with the owner's pid and address", async () => {
    const data = join(folder, "data");
    await open({ ...shop, data });
    await expect(open({ ...shop, data })).rejects.toMatchObject({
      code: "folder_owned",
      details: { dataDir: data, pid: process.pid, url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) },
    });
  });

  it("does nothing more once another process took the folder, and still closes", async () => {
    const data = join(folder, "data");
    const ergon = await open({ ...shop, data });
    rmSync(join(data, "server.json"));
    await expect(ergon.run("checkout", { order: "A-1" })).rejects.toMatchObject({ code: "ownership_lost" });
    await expect(ergon.runs()).rejects.toMatchObject({ code: "ownership_lost" });
    await ergon.close();
  });

  it("has the tools of capability folders, both forms of defineTool, and actions", async () => {
    const file = join(folder, "own", "greet.tool.ts");
    mkdirSync(join(folder, "own"));
    writeFileSync(
      file,
      `import { defineTool } from "@ergon/core"; import { z } from "zod";
       export default defineTool({ name: "own::greet", description: "Greets.", effects: "pure",
         input: z.object({ who: z.string() }), run: async ({ who }) => \`Hello, \${who}\` });`,
    );
    const older = defineTool({
      name: "own::older",
      description: "Greets.",
      argsSchema: z.object({ who: z.string() }),
      run: async ({ args }) => `Hi, ${args.who}`,
    });
    const action = defineAction<undefined>()({
      id: "ownAction",
      description: "Greets.",
      argsSchema: z.object({ who: z.string() }),
      actionFn: async ({ args }) => ({ success: true, message: args.who }),
    });
    const ergon = await open({ tools: [older, action], capabilities: [join(folder, "own")] });
    expect(await ergon.call("own::greet", { who: "Ada" })).toBe("Hello, Ada");
    expect(await ergon.call("own::older", { who: "Ada" })).toBe("Hi, Ada");
    expect(await ergon.call("ownAction", { who: "Ada" })).toMatchObject({ message: "Ada" });
  });

  it("has the packs that are named, and no other", async () => {
    const plain = await open();
    await expect(plain.call("demo::greet", { who: "Ada" })).rejects.toMatchObject({ code: "tool_not_found" });
    const demo = await open({ packs: ["demo"] });
    expect(JSON.stringify(await demo.call("demo::greet", { who: "Ada" }))).toContain("Ada");
    await expect(open({ packs: ["dmo"] })).rejects.toThrow(/There is no pack "dmo".*demo/);
  });

  it("refuses what is wrong before it makes anything", async () => {
    const data = join(folder, "data");
    const noPlan = { planId: "p", startStepId: "a", steps: [] };
    const wrong: readonly (readonly [object, string])[] = [
      [{ dta: data }, "input_invalid"],
      [{ plans: [noPlan] }, "plan_invalid"],
      [{ plans: [checkout, checkout] }, "plan_invalid"],
      [{ tools: [charge, charge] }, "tool_duplicate"],
      [{ tools: [{ name: "x" }] }, "tool_invalid"],
      [{ model: "not a model" }, "setting_invalid"],
      [{ packs: ["none"] }, "input_invalid"],
    ];
    for (const [options, code] of wrong) {
      await expect(open({ data, ...options }), JSON.stringify(options)).rejects.toMatchObject({ code });
    }
    expect(existsSync(data)).toBe(false);
  });

  it("refuses a plan that cannot run, and everything once it is closed", async () => {
    const ergon = await open({ plans: [checkout] });
    await expect(ergon.run("checkout", { order: "A" })).rejects.toMatchObject({
      code: "plan_invalid",
      details: { problems: [expect.objectContaining({ code: "unknown_tool" })] },
    });
    await expect(ergon.run("chekout")).rejects.toMatchObject({ code: "plan_not_found" });
    await ergon.close();
    await ergon.close();
    await expect(ergon.runs()).rejects.toMatchObject({ code: "store_closed" });
  });
});
