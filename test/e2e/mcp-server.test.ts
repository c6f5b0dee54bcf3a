import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { DOORS, ergon, plainEnvironment } from "./ergon.ts";
import { type Answerer, headersOf, type Target } from "./mcp-clients.ts";
import { CLIENT_NAMES, EVERY_WAY, mcpFolder, sharedServer } from "./mcp-folder.ts";
import { hasUnread, until } from "./processes.ts";

const LONG_TEXT = "Ergon runs plans. A step that has finished never runs again. This text is long enough to ask.";
const yes: Answerer = () => ({ action: "accept", content: { pass: true } });

describe("Ergon as an MCP server", { timeout: 60_000 }, () => {
  const { folder, data, stdio, serve, stop, http, connect } = mcpFolder();
  const shared = sharedServer();
  const targets = { stdio: async () => stdio(), HTTP: shared };

  it.each(EVERY_WAY)("gives %s over %s the four tools of refinement", async (name, door) => {
    const client = await connect(name, await targets[door]());
    expect(await client.tools()).toEqual(
      expect.arrayContaining([
        "initialize_refinement_loop",
        "decide_loop_next_action",
        "get_loop_status",
        "list_active_loops",
        "run_plan",
        "plan_review_text",
      ]),
    );
    const begun = await client.call("initialize_refinement_loop", { loop_type: "spec" });
    expect(begun.structured).toMatchObject({ status: "initialized" });
    expect(JSON.parse(begun.text)).toEqual(begun.structured);
    const { id } = begun.structured;
    const decide = (current_score: unknown) => client.call("decide_loop_next_action", { loop_id: id, current_score });
    expect((await decide(70)).structured).toMatchObject({ id, status: "refine", score: 70, iteration: 1 });
    expect((await decide(90)).structured).toMatchObject({ id, status: "completed", score: 90 });
    expect((await client.call("get_loop_status", { loop_id: id })).structured).toMatchObject({ status: "completed" });
    expect((await client.call("list_active_loops", {})).structured).toMatchObject({
      result: [{ id, status: "completed" }],
    });
    for (const [call, expected] of [
      [decide("90"), { code: "loop_validation", field: "current_score" }],
      [decide(90.5), { code: "loop_validation", field: "current_score" }],
      [client.call("get_loop_status", { loop_id: "zzzzzzzz" }), { code: "loop_not_found", loop_id: "zzzzzzzz" }],
      [client.call("initialize_refinement_loop", { loop_type: "x" }), { code: "loop_validation", field: "loop_type" }],
    ] as const) {
      const failed = await call;
      expect(failed).toMatchObject({ isError: true, structured: expected });
      expect(JSON.parse(failed.text)).toEqual(failed.structured);
      expect(failed.text).not.toContain("    at ");
    }
  });

  it.each(EVERY_WAY)(
    "puts a plan's question to the user of %s over %s, and goes on with the answer",
    async (name, door) => {
      const asked: string[] = [];
      const client = await connect(name, await targets[door](), (message) => {
        asked.push(message);
        return { action: "accept", content: { pass: true } };
      });
      const { structured } = await client.call("plan_review_text", { text: LONG_TEXT });
      expect(asked).toEqual([expect.stringContaining("Pass it on?")]);
      expect(structured).toMatchObject({ status: "completed", planId: "review_text" });
      expect(structured["finalResponse"]).toEqual(expect.any(String));
      expect((await client.call("list_sessions", {})).structured).toMatchObject({ items: [{ status: "completed" }] });
    },
  );

  it.each(EVERY_WAY)(
    "shows the question to %s over %s when it cannot ask, and resume_session answers",
    async (name, door) => {
      const client = await connect(name, await targets[door]());
      const { structured } = await client.call("run_plan", { planId: "review_text", input: { text: LONG_TEXT } });
      expect(structured).toMatchObject({
        status: "paused_on_human",
        waiting: [{ kind: "human", message: expect.stringContaining("Pass it on?") as unknown }],
        next: expect.stringContaining("resume_session") as unknown,
      });
      const { sessionId } = structured;
      const wrong = await client.call("resume_session", { sessionId, input: { pass: "maybe" } });
      expect(wrong).toMatchObject({ isError: true, structured: { code: "resume_input_invalid" } });
      const answered = await client.call("resume_session", { sessionId, input: { pass: false, note: "Too long." } });
      expect(answered.structured).toMatchObject({ status: "completed", finalResponse: "Not passed on. Too long." });
      const seen = await client.call("get_session", { sessionId });
      expect(seen.structured).toMatchObject({ status: "completed", context: { verdict: { pass: false } } });
    },
  );

  it.each(CLIENT_NAMES)("leaves a question open that the user of %s declines", async (name) => {
    const client = await connect(name, await shared(), () => ({ action: "decline" }));
    const { structured } = await client.call("plan_review_text", { text: LONG_TEXT });
    expect(structured).toMatchObject({ status: "paused_on_human", waiting: [{ stepId: "ask" }] });
    const { sessionId } = structured;
    expect((await client.call("cancel_session", { sessionId })).structured).toMatchObject({ status: "cancelled" });
  });

  it("ends at a message that is longer than any may be, and says so", async () => {
    const input = "x".repeat(11 * 1024 * 1024);
    const ended = await ergon(["mcp", "--data", data()], { cwd: folder.path, input });
    expect(ended).toMatchObject({ code: 2, out: "", err: expect.stringMatching(/longer than \d+ bytes/) });
  });

  it("says what is wrong with a plan, its input or a tool's arguments, and starts nothing", async () => {
    const client = await connect("SDK v2, 2026", await shared());
    expect(await client.call("run_plan", { planId: "review_txt" })).toMatchObject({
      isError: true,
      structured: { code: "plan_not_found", message: expect.stringContaining('"review_text"') as unknown },
    });
    expect(await client.call("plan_review_text", { txt: "x" })).toMatchObject({
      isError: true,
      structured: { code: "plan_invalid" },
    });
    expect(await client.call("run_plan", { plan: { planId: "x" } })).toMatchObject({
      isError: true,
      structured: { code: "plan_invalid" },
    });
    expect(await client.call("run_plan", {})).toMatchObject({ isError: true, structured: { code: "input_invalid" } });
    expect(await client.call("get_session", { sessionId: "none" })).toMatchObject({
      isError: true,
      structured: { code: "session_not_found" },
    });
    expect((await client.call("list_sessions", {})).structured).toEqual({ items: [] });
  });

  it.each(EVERY_WAY)("lets %s over %s learn the format of plans, write one and run it", async (name, door) => {
    const client = await connect(name, await targets[door]());
    expect(await client.tools()).toEqual(expect.arrayContaining(["list_tools", "validate_plan", "run_plan"]));
    expect(await client.resources()).toContain("ergon://schemas/plan");
    const [schema] = await client.read("ergon://schemas/plan");
    const isPlan = new Ajv2020({ strict: false }).compile(JSON.parse(String(schema?.["text"])) as object);
    const listed = await client.call("list_tools", { query: "add two", limit: 1 });
    expect(listed.structured).toMatchObject({ items: [{ id: "demo::add", parameters: { required: ["a", "b"] } }] });
    const all = (await client.call("list_tools", { limit: 2 })).structured as {
      items: { id: string }[];
      nextCursor: string;
    };
    const rest = (await client.call("list_tools", { limit: 2, cursor: all.nextCursor })).structured as typeof all;
    expect(all.items).toHaveLength(2);
    expect(rest.items.map(({ id }) => id)).not.toContain(all.items[1]?.id);
    expect(rest.items).toHaveLength(2);
    const plan = {
      planId: "sum",
      startStepId: "add",
      steps: [
        {
          id: "add",
          type: "tool_call",
          toolId: "demo::add",
          arguments: { a: 2, b: 3 },
          saveAs: "sum",
          nextStepId: "end",
        },
        { id: "end", type: "final_response", message: { jsonPath: "$.context.sum" } },
      ],
    };
    expect(isPlan(plan), JSON.stringify(isPlan.errors)).toBe(true);
    expect(isPlan({ ...plan, steps: [{ id: "add", type: "tool_cal" }] })).toBe(false);
    const wrong = { ...plan, startStepId: "ad" };
    expect((await client.call("validate_plan", { plan: wrong })).structured).toMatchObject({
      ok: false,
      problems: expect.arrayContaining([expect.objectContaining({ path: "$.startStepId" })]) as unknown,
    });
    expect((await client.call("validate_plan", { plan })).structured).toMatchObject({ ok: true, problems: [] });
    expect((await client.call("run_plan", { plan })).structured).toMatchObject({ status: "completed" });
  });

  it("keeps what one principal made from every other, on one folder", async () => {
    const mine = await http();
    const bot = (await ergon(["token", "add", "bot", "--data", data()], { cwd: folder.path })).out.trim();
    const first = await connect("SDK v2, 2026", mine);
    const others = [
      await connect("SDK v2, 2026", { ...mine, token: bot } as Target),
      await connect("SDK v1", { ...mine, token: bot } as Target),
      await connect("SDK v1", stdio()),
      await connect("SDK v2, 2026", stdio("--name", "editor")),
    ];
    const { id } = (await first.call("initialize_refinement_loop", { loop_type: "plan" })).structured;
    const { sessionId } = (await first.call("plan_welcome_team", { names: ["Ada"] })).structured;
    for (const other of others) {
      expect((await other.call("list_active_loops", {})).structured).toEqual({ result: [] });
      expect((await other.call("list_sessions", {})).structured).toEqual({ items: [] });
      const decided = await other.call("decide_loop_next_action", { loop_id: id, current_score: 1 });
      expect(decided.structured).toMatchObject({ code: "loop_not_found" });
      const read = await other.call("get_session", { sessionId });
      expect(read.structured).toMatchObject({ code: "session_not_found" });
    }
    expect((await first.call("get_loop_status", { loop_id: id })).structured).toMatchObject({ status: "initialized" });
  });

  it("works through the process that owns the folder, and takes over when that one is killed", async () => {
    await serve();
    const client = await connect("SDK v2, 2026", stdio("--name", "editor"));
    const { structured } = await client.call("run_plan", { planId: "review_text", input: { text: LONG_TEXT } });
    expect(structured).toMatchObject({ status: "paused_on_human" });
    const listed = await ergon(["loops", "list", "--owner", "stdio:editor", "--json", "--data", data()], {
      cwd: folder.path,
    });
    expect(JSON.parse(listed.out)).toEqual({ items: [] });
    await stop("SIGKILL");
    const { sessionId } = structured;
    const answered = await client.call("resume_session", { sessionId, input: { pass: true } });
    const seen = answered.isError ? await client.call("get_session", { sessionId }) : answered;
    expect(seen.structured).toMatchObject({ sessionId });
    const again = await client.call("get_session", { sessionId, waitSeconds: 20 });
    expect(["completed", "paused_on_human"]).toContain(again.structured["status"]);
  });

  it("does a call itself that the owner of the folder died before it read", async () => {
    const { pid, url } = await serve();
    const client = await connect("SDK v2, 2026", stdio("--name", "editor"));
    expect((await client.call("validate_plan", { plan: {} })).structured).toMatchObject({ ok: false });
    // The kernel still accepts connections for a process that does not run.
    process.kill(pid, "SIGSTOP");
    const calling = client.call("plan_welcome_team", { names: ["Ada"] });
    await until("the call waits at the owner's address", () => hasUnread(url));
    await stop("SIGKILL");
    expect((await calling).structured).toMatchObject({ status: "completed" });
    expect((await client.call("list_sessions", {})).structured).toMatchObject({ items: [{ status: "completed" }] });
  });

  it("knows a stdio client by its name at the next start, and its runs with it", async () => {
    const first = await connect("SDK v1", stdio("--name", "editor"));
    const { sessionId } = (await first.call("run_plan", { planId: "review_text", input: { text: LONG_TEXT } }))
      .structured;
    await first.close();
    const second = await connect("SDK v2, 2026", stdio("--name", "editor"));
    expect((await second.call("get_session", { sessionId })).structured).toMatchObject({ status: "paused_on_human" });
    const answered = await second.call("resume_session", { sessionId, input: { pass: true } });
    expect(answered.structured).toMatchObject({ status: "completed" });
  });

  it("asks nobody twice: a second question of one call comes after the first", async () => {
    const client = await connect("SDK v2, 2026", await http(), yes);
    const human = (id: string, next: string) => ({
      id,
      type: "human_in_the_loop",
      message: `Question ${id}?`,
      inputSchema: { type: "object", properties: { pass: { type: "boolean" } }, required: ["pass"] },
      saveAs: id,
      nextStepIdOnInput: next,
    });
    const plan = {
      planId: "two_questions",
      startStepId: "one",
      steps: [
        human("one", "two"),
        human("two", "end"),
        { id: "end", type: "final_response", message: { jsonPath: "$.context.two.pass" } },
      ],
    };
    const { structured } = await client.call("run_plan", { plan, input: {} });
    expect(structured).toMatchObject({ status: "completed", finalResponse: true });
  });

  const inspector = join(
    dirname(fileURLToPath(import.meta.resolve("@modelcontextprotocol/inspector/package.json"))),
    "clients/launcher/build/index.js",
  );
  it.each(["stdio", "HTTP"] as const)("answers the MCP Inspector over %s", async (door) => {
    const target = await targets[door]();
    const how =
      target.kind === "stdio"
        ? [
            "-e",
            "ERGON_LOOP_STORE=sqlite",
            process.execPath,
            DOORS.built,
            "mcp",
            "--name",
            "inspector",
            "--data",
            data(),
          ]
        : [new URL("/mcp", target.url).href, "--header", `Authorization: ${headersOf(target)["authorization"] ?? ""}`];
    const inspect = async (...args: string[]): Promise<Record<string, unknown>> => {
      const options = {
        cwd: folder.path,
        env: { ...plainEnvironment(), HOME: folder.path },
      };
      const { stdout } = await promisify(execFile)(process.execPath, [inspector, "--cli", ...how, ...args], options);
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const call = async (tool: string, ...pairs: string[]) => {
      const args = pairs.flatMap((pair) => ["--tool-arg", pair]);
      const called = await inspect("--method", "tools/call", "--tool-name", tool, ...args);
      return called["structuredContent"] as Record<string, unknown>;
    };
    expect(JSON.stringify(await inspect("--method", "tools/list"))).toContain("plan_welcome_team");
    const { id } = await call("initialize_refinement_loop", "loop_type=plan");
    expect(await call("decide_loop_next_action", `loop_id=${String(id)}`, "current_score=86")).toMatchObject({
      status: "completed",
    });
    expect(await call("get_loop_status", `loop_id=${String(id)}`)).toMatchObject({ status: "completed" });
    expect(await call("list_active_loops")).toMatchObject({ result: [{ id }] });
  });
});
