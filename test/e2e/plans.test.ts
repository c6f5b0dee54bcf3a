import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { AgenticPlan, SessionCore } from "@ergon/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { preparePython } from "../../packages/node/src/sandbox/prepared-python.fixture.ts";
import { type Answer, ergon, finish, start, temporaryFolder } from "./ergon.ts";
import { ownFolder } from "./own-folder.ts";
import { leaveNothingOn, until } from "./processes.ts";
import { hold, readAttempts, release, WORK } from "./work-log.ts";

const folder = ownFolder();

/** The data folder is named, so that whatever is left running can be found by it. */
const options = () => ({ cwd: folder.path, env: { WORK_LOG: folder.path } });
const run = (...args: readonly string[]): Promise<Answer> =>
  ergon([...args, "--data", join(folder.path, "data")], options());
const sessions = async (): Promise<readonly SessionCore[]> => {
  const { out } = await run("sessions", "list", "--json");
  return (JSON.parse(out) as { items: unknown[] }).items.map((item) => SessionCore.parse(item));
};

const countSessions = (): number => {
  const path = join(folder.path, "data/state.db");
  if (!existsSync(path)) return 0;
  const db = new DatabaseSync(path, { readOnly: true });
  const found = db.prepare("SELECT count(*) AS n FROM sessions").get();
  db.close();
  return Number(found?.["n"]);
};

const LONG_TEXT = "one two three four five six seven eight nine ten eleven twelve";

describe("the plans that come with Ergon", () => {
  const files = globSync("capabilities/plans/**/*.plan.{json,yaml,yml}", { cwd: join(import.meta.dirname, "../..") });
  const plans = files.map((file) =>
    AgenticPlan.parse(JSON.parse(readFileSync(join(import.meta.dirname, "../..", file), "utf8"))),
  );
  /** One for every plan: what to run it with, what to answer, and what it comes to. */
  const cases: Readonly<Record<string, { input: unknown; answer?: unknown; response: unknown; python?: true }>> = {
    greet_in_two_languages: { input: { guests: ["Ada", "Li"] }, response: expect.stringContaining("Bonjour, Li!") },
    correlation_investigation: {
      input: { filePath: "shop_orders.csv" },
      answer: { finding: 2 },
      response: expect.stringContaining("ergon blobs get"),
      python: true,
    },
    dataset_first_look: { input: { filePath: "customer_survey.csv" }, response: expect.stringContaining("240 rows") },
    find_data_sources: {
      input: {},
      answer: { load: ["shop_orders.csv"] },
      response: [expect.objectContaining({ datasetName: "shop_orders" })],
    },
    review_text: { input: { text: LONG_TEXT }, answer: { pass: true }, response: LONG_TEXT },
    welcome_team: { input: { names: ["Ada", "Grace"] }, response: ["Welcome, Ada!", "Welcome, Grace!"] },
  };

  it.each(plans.map((plan) => [plan.planId, plan] as const))(
    "%s is valid, is shown as it is, and runs",
    async (planId, plan) => {
      const { input, answer, response, python } = cases[planId] ?? {};
      if (python) await preparePython(join(folder.path, "data"));
      expect(input, `plans.test.ts has no case for ${planId}: add one`).toBeDefined();
      const shown = await run("plans", "show", planId, "--json");
      expect(JSON.parse(shown.out)).toEqual(plan);
      folder.write({ "shown.json": shown.out });
      const validated = await run("plans", "validate", "shown.json", "--json");
      expect(JSON.parse(validated.out)).toMatchObject({
        ok: true,
        problems: [],
        estimate: expect.any(Object) as unknown,
      });
      let last = await run("run", planId, "--input", JSON.stringify(input), "--json");
      if (answer !== undefined) {
        expect(last.code).toBe(3);
        const { sessionId } = JSON.parse(last.out) as { sessionId: string };
        last = await run("resume", sessionId, "--input", JSON.stringify(answer), "--json");
      }
      expect(last, last.err).toMatchObject({ code: 0, err: "" });
      expect(JSON.parse(last.out)).toMatchObject({ core: { status: "completed" }, finalResponse: response });
    },
    180_000,
  );

  it("use every type of step between them", () => {
    const used = new Set([...JSON.stringify(plans).matchAll(/"type":"(\w+_\w+)"/g)].map(([, type]) => type));
    expect(used).toEqual(
      new Set([
        "conditional_branch",
        "final_response",
        "human_in_the_loop",
        "loop_over_items",
        "parallel_branch",
        "tool_call",
      ]),
    );
  });

  it("are listed, for people and for machines, with what could not be read", async () => {
    const people = await run("plans");
    expect(people).toMatchObject({ code: 0, err: "" });
    expect(people.out).toMatch(/^PLAN +DESCRIPTION\n/);
    expect(people.out).toMatch(/^welcome_team +Greets every name in a list/m);
    expect((await run("plans", "list")).out).toBe(people.out);
    folder.write({ "mine/mine.plan.yaml": PLAN_YAML, "mine/bad.plan.json": "{", "mine/welcome.plan.json": shadow });
    const { out } = await run("plans", "list", "--json", "--capabilities", "mine");
    const { items, problems } = JSON.parse(out) as { items: { planId: string }[]; problems: { code: string }[] };
    expect(items.map(({ planId }) => planId)).toEqual([...plans.map(({ planId }) => planId), "mine"].sort());
    expect(problems.map(({ code }) => code).sort()).toEqual(["plan_duplicate", "plan_invalid"]);
    const warned = await run("plans", "list", "--capabilities", "mine");
    expect(warned.err).toMatch(/warning: .*bad\.plan\.json: It is not JSON/);
  });
});

const shadow = `{"planId": "welcome_team", "startStepId": "a", "steps": [{"id": "a", "type": "final_response", "message": "mine"}]}`;
const PLAN_YAML = `
planId: mine
description: Greets in YAML.
startStepId: greet
steps:
  - id: greet
    type: tool_call
    toolId: demo::greet
    arguments: { who: { jsonPath: $.promptInput.who }, greeting: Hi }
    nextStepId: done
  - id: done
    type: final_response
    message: "{{$.context['demo::greet_result'].greeting}}"
`;

describe("run", () => {
  it("shows the steps as they happen and ends with the answer", async () => {
    const { out, err, code } = await run("run", "welcome_team", "--input", `{"names": ["Ada", "Grace"]}`);
    expect(code).toBe(0);
    expect(out).toMatch(/^session ses_\w+\n\[\n {2}"Welcome, Ada!",\n {2}"Welcome, Grace!"\n\]\n$/);
    expect(err).toBe("✓ greet[0] demo::greet\n✓ greet[1] demo::greet\n");
  });

  it("is one document for machines", async () => {
    const { out, err } = await run("run", "welcome_team", "--input", `{"names": ["Ada"]}`, "--json");
    expect(err).toBe("");
    const document = JSON.parse(out) as { sessionId: string; core: unknown };
    expect(Object.keys(document)).toEqual(["sessionId", "core", "finalResponse", "context"]);
    expect(SessionCore.parse(document.core)).toMatchObject({ sessionId: document.sessionId, status: "completed" });
    expect(document).toMatchObject({ context: { greetings: [{ greeting: "Welcome, Ada!" }] } });
  });

  it("takes a file, in JSON or YAML, by its name or its place, and input from a file or stdin", async () => {
    folder.write({ "here.yaml": PLAN_YAML, "below/here.json": shadow, "input.json": `{"who": "Ada"}` });
    expect((await run("run", "here.yaml", "--input", "@input.json", "--json")).out).toContain(
      `"finalResponse":"Hi, Ada!"`,
    );
    const piped = await ergon(["run", "./here.yaml", "--input", "-"], { ...options(), input: `{"who": "Li"}` });
    expect(piped).toMatchObject({ code: 0, out: expect.stringMatching(/\nHi, Li!\n$/) as unknown });
    expect((await run("run", "below/here.json", "--json")).out).toContain(`"finalResponse":"mine"`);
  });

  it("takes a plan of a folder that the user named; one of ours cannot be shadowed", async () => {
    folder.write({ "mine/mine.plan.yml": PLAN_YAML, "mine/welcome.plan.json": shadow });
    const mine = await run("run", "mine", "--capabilities", "mine", "--input", `{"who": "Ada"}`);
    expect(mine).toMatchObject({ code: 0, out: expect.stringMatching(/\nHi, Ada!\n$/) as unknown });
    const ours = await run("run", "welcome_team", "--capabilities", "mine", "--input", `{"names": []}`, "--json");
    expect(JSON.parse(ours.out)).toMatchObject({ finalResponse: [] });
  });

  it.each([
    ["an unknown plan", ["welcome_taem"], /There is no plan "welcome_taem"\. Did you mean "welcome_team"\?/],
    ["a file that is not there", ["gone.json"], /gone\.json: It cannot be read/],
    ["a file that is no JSON", ["broken.json"], /broken\.json: It is not JSON: .* line 1, column 2/],
    ["a file that is no YAML", ["broken.yaml"], /broken\.yaml: It is not usable YAML: .* line 2/],
    ["missing input", ["welcome_team"], /\$\.input\.names: "names" is required/],
    ["wrong input", ["welcome_team", "--input", `{"names": [1]}`], /\$\.input\.names\[0\]: It must be a string, not 1/],
    ["input that is no JSON", ["welcome_team", "--input", "{names}"], /--input is not JSON: unexpected "names"/],
    ["input that is no object", ["welcome_team", "--input", "[]"], /--input must be a JSON object/],
    ["a plan that cannot run", ["wrong.json"], /2 problems: \$\.steps\[0\]\.toolId: .* Did you mean "demo::greet"\?/],
  ])("refuses %s with exit 2, and leaves no session", async (_, args, message) => {
    folder.write({
      "broken.json": "{a: 1}",
      "broken.yaml": "a: [1\nb: 2",
      "wrong.json": JSON.stringify({
        planId: "wrong",
        startStepId: "a",
        steps: [
          { id: "a", type: "tool_call", toolId: "demo::gret" },
          { id: "b", type: "final_response", message: "never" },
        ],
      }),
    });
    const { out, err, code: exit } = await run("run", ...args, "--json");
    expect({ exit, err }).toEqual({ exit: 2, err: "" });
    const { error } = JSON.parse(out) as { error: { code: string; message: string } };
    expect(error.message).toMatch(message);
    expect(["plan_not_found", "plan_invalid", "input_invalid"]).toContain(error.code);
    expect(countSessions()).toBe(0);
  });

  it("names everything that is wrong, to people too", async () => {
    const args = ["run", "welcome_team", "--input", `{"names": [1, "Ada", ""], "greetings": "Hi"}`];
    const { err } = await run(...args);
    expect(err).toMatch(/3 problems/);
    for (const place of ["names[0]", "names[2]", "greetings"]) expect(err).toContain(`$.input.${place}: `);
    const { error } = JSON.parse((await run(...args, "--json")).out) as {
      error: { details: { problems: { path: string }[] } };
    };
    expect(error.details.problems.map(({ path }) => path)).toEqual([
      "$.input.greetings",
      "$.input.names[0]",
      "$.input.names[2]",
    ]);
  });
});

describe("a session that waits for a person", () => {
  const ask = async (): Promise<string> => {
    const { out, err, code } = await run("run", "review_text", "--input", JSON.stringify({ text: LONG_TEXT }));
    expect(code).toBe(3);
    expect(out).toMatch(/\nwaiting for you at ask: This text has 12 words\. Pass it on\?\n$/);
    const [, sessionId = ""] = /^session (\S+)/.exec(out) ?? [];
    expect(err).toContain(`Go on with: npx ergon resume ${sessionId} --input '{"pass":true}'`);
    return sessionId;
  };

  it("takes an answer that fits, once", async () => {
    const sessionId = await ask();
    const wrong = await run("resume", sessionId, "--input", `{"pass": "yes", "nte": 1}`);
    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(wrong.err).toMatch(/^error: The answer to step "ask" does not fit[^]*\/pass: It must be boolean/);
    expect(await run("resume", sessionId)).toMatchObject({ code: 2 });
    expect((await run("resume", sessionId, "--input", "yes")).err).toMatch(/--input is not JSON/);
    const elsewhere = await run("resume", sessionId, "--step", "look", "--input", `{"pass": true}`, "--json");
    expect(elsewhere.code).toBe(1);
    expect(JSON.parse(elsewhere.out)).toMatchObject({ error: { code: "wait_not_open", details: { open: ["ask"] } } });
    const answered = await run("resume", sessionId, "--step", "ask", "--input", `{"pass": false, "note": "Too long."}`);
    expect(answered).toMatchObject({ code: 0, out: "Not passed on. Too long.\n" });
    const again = await run("resume", sessionId, "--input", `{"pass": true}`, "--json");
    expect(again.code).toBe(1);
    expect(JSON.parse(again.out)).toMatchObject({ error: { code: "wait_not_open" } });
  });

  it("is shown with its question, its context and its history", async () => {
    const sessionId = await ask();
    const shown = await run("sessions", "show", sessionId);
    expect(shown.code).toBe(0);
    expect(shown.out).toMatch(new RegExp(`^${sessionId} {2}paused_on_human {2}plan review_text, updated 2\\d{3}-`));
    expect(shown.out).toMatch(/^ {2}size: \{ "words": 12, "lines": 1, "characters": 62 \}$/m);
    expect(shown.out).toMatch(/^waiting for you at ask: /m);
    const view = JSON.parse((await run("sessions", "show", sessionId, "--json")).out) as Record<string, unknown>;
    expect(Object.keys(view)).toEqual(["core", "context", "history"]);
    expect(SessionCore.parse(view["core"]).waiting).toMatchObject([
      { stepId: "ask", path: "ask", kind: "human", inputSchema: { required: ["pass"] } },
    ]);
    const history = await run("sessions", "history", sessionId);
    expect(history.out).toMatch(
      /^2\S+Z {2}count {2}demo::word_count {2}\{"text":"one .*\} → \{ "words": 12, .*\n.* summarize /,
    );
    const { items } = JSON.parse((await run("sessions", "history", sessionId, "--json")).out) as { items: unknown };
    expect(items).toEqual(view["history"]);
  });

  it("can be cancelled, once, and takes no answer then", async () => {
    const sessionId = await ask();
    const cancelled = await run("cancel", sessionId, "--json");
    expect(cancelled.code).toBe(0);
    expect(JSON.parse(cancelled.out)).toMatchObject({ sessionId, core: { status: "cancelled", waiting: [] } });
    expect(await run("cancel", sessionId)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/has ended already/) as unknown,
    });
    expect(await run("resume", sessionId, "--input", `{"pass": true}`)).toMatchObject({ code: 1 });
    expect((await run("sessions", "show", sessionId)).out).toMatch(/cancelled/);
  });

  it("waits in one branch while another is tried again until it is done", async () => {
    const flaky = join(folder.path, "flaky");
    folder.write({
      "flaky/slip.tool.ts": `let calls = 0;
export const definition = { id: "slip::twice", description: "Fails twice.", parameters: { type: "object" } };
export const implementation = async () => {
  if (++calls < 3) throw new Error("not yet");
  return calls;
};`,
      "flaky/beside.plan.json": JSON.stringify({
        planId: "beside",
        description: "A question beside a call that fails at first.",
        parameters: { type: "object" },
        startStepId: "both",
        steps: [
          {
            id: "both",
            type: "parallel_branch",
            branches: [
              { steps: [{ id: "ask", type: "human_in_the_loop", message: "Go on?" }] },
              {
                steps: [
                  { id: "try", type: "tool_call", toolId: "slip::twice", retry: { maxAttempts: 3, backoffMs: 200 } },
                ],
              },
            ],
          },
        ],
      }),
    });
    const { out, err, code } = await run("run", "beside", "--capabilities", flaky);
    expect(code, err).toBe(3);
    expect(err).toContain("? both[0]/ask: Go on?");
    expect(err).toContain("✓ try[1] slip::twice");
    expect(out).toContain("waiting for you at both[0]/ask: Go on?");
    expect(out).not.toContain("Attempt");
  });

  it("names the question that is meant, where several are open", async () => {
    const input = JSON.stringify({ name: "n", ms: 0, turns: 1, voters: ["a", "b"] });
    const { out, err, code } = await run("run", "votes", "--capabilities", WORK, "--input", input);
    expect(code).toBe(3);
    expect(out).toMatch(
      /waiting for you at ask\[0\]\/vote: a, yes or no\?\nwaiting for you at ask\[1\]\/vote: b, yes or no\?\n$/,
    );
    const sessionId = (await sessions())[0]?.sessionId ?? "";
    expect(err).toContain(`Go on with: npx ergon resume ${sessionId} --step 'ask[0]/vote' --input '{"yes":true}'`);
    const answer = (...args: readonly string[]) =>
      run("resume", sessionId, "--capabilities", WORK, "--input", `{"yes": true}`, "--json", ...args);
    for (const args of [[], ["--step", "vote"]]) {
      const ambiguous = await answer(...args);
      expect(ambiguous.code).toBe(2);
      expect(JSON.parse(ambiguous.out)).toMatchObject({
        error: { code: "wait_ambiguous", details: { open: ["ask[0]/vote", "ask[1]/vote"] } },
      });
    }
    expect(await answer("--step", "ask[1]/vote")).toMatchObject({ code: 3 });
    const last = await answer();
    expect(last.code).toBe(0);
    expect(JSON.parse(last.out)).toMatchObject({ finalResponse: [true, true] });
  });
});

describe("a session that a failing step has stopped", () => {
  // What a person does about it is asked here; the supervisor has tests of its own.
  const run = (...args: readonly string[]): Promise<Answer> => {
    const { cwd, env } = options();
    return ergon([...args, "--data", join(folder.path, "data")], { cwd, env: { ...env, ERGON_CORRECTIONS: "off" } });
  };
  const fails = (rest: object) =>
    JSON.stringify({
      planId: "fails",
      startStepId: "try",
      steps: [
        {
          id: "try",
          type: "tool_call",
          toolId: "demo::fail",
          arguments: { message: "no luck" },
          nextStepId: "done",
          ...rest,
        },
        { id: "done", type: "final_response", message: "over it" },
      ],
    });
  const stop = async (): Promise<string> => {
    folder.write({ "fails.json": fails({ retry: { maxAttempts: 2, backoffMs: 10 } }) });
    const { out, err, code } = await run("run", "fails.json");
    expect(code).toBe(4);
    expect(out).toMatch(/\ntool_failed at try: no luck\n$/);
    expect(err).toMatch(
      /^↻ try tool_failed no luck\n… try, attempt 2\n✗ try tool_failed no luck\nGo on with: .*retry.*skip/,
    );
    return /^session (\S+)/.exec(out)?.[1] ?? "";
  };

  it("goes on as a person decides: again, past it, or not at all", async () => {
    const sessionId = await stop();
    const again = await run("resume", sessionId, "--json");
    expect(again.code).toBe(4);
    expect(JSON.parse(again.out)).toMatchObject({
      core: { status: "paused_on_error", lastError: { code: "tool_failed", message: "no luck", stepId: "try" } },
    });
    expect(await run("resume", sessionId, "--input", `{"action": "retri"}`)).toMatchObject({ code: 2 });
    expect(await run("resume", sessionId, "--input", `{"happened": 1}`)).toMatchObject({ code: 2 });
    const skipped = await run("resume", sessionId, "--input", `{"action": "skip"}`);
    expect(skipped).toMatchObject({ code: 0, out: "over it\n" });
    const history = JSON.parse((await run("sessions", "history", sessionId, "--json")).out) as { items: unknown[] };
    expect(history.items).toHaveLength(2);
  });

  it("fails when a person gives it up", async () => {
    const sessionId = await stop();
    const aborted = await run("resume", sessionId, "--input", `{"action": "abort"}`);
    expect(aborted).toMatchObject({ code: 1, out: "failed: no luck\n" });
    expect(await sessions()).toMatchObject([{ sessionId, status: "failed" }]);
  });

  it("takes other arguments from a person", async () => {
    folder.write({
      "adds.json": JSON.stringify({
        planId: "adds",
        parameters: { type: "object", properties: { a: {} } },
        startStepId: "add",
        steps: [
          {
            id: "add",
            type: "tool_call",
            toolId: "demo::add",
            arguments: { a: { jsonPath: "$.promptInput.a" }, b: 1 },
            nextStepId: "done",
          },
          { id: "done", type: "final_response", message: { jsonPath: "$.context['demo::add_result'].sum" } },
        ],
      }),
    });
    const { out, code } = await run("run", "adds.json", "--input", `{"a": "one"}`, "--json");
    expect(code).toBe(4);
    const { sessionId, core } = JSON.parse(out) as { sessionId: string; core: SessionCore };
    expect(core.lastError).toMatchObject({ code: "args_invalid", stepId: "add" });
    const input = `{"action": "retry", "arguments": {"a": 1, "b": 1}}`;
    expect(await run("resume", sessionId, "--input", input)).toMatchObject({ code: 0, out: "2\n" });
  });
});

describe("sessions", () => {
  it("are listed newest first, by page and by status", async () => {
    expect(await run("sessions")).toMatchObject({
      code: 0,
      out: "",
      err: expect.stringMatching(/^No sessions yet/) as unknown,
    });
    for (const names of [["a"], ["b"], ["c"]]) await run("run", "welcome_team", "--input", JSON.stringify({ names }));
    await run("run", "review_text", "--input", JSON.stringify({ text: LONG_TEXT }));
    const all = await sessions();
    expect(all.map(({ status }) => status)).toEqual(["paused_on_human", "completed", "completed", "completed"]);
    const people = await run("sessions");
    expect(people.out).toMatch(/^SESSION +STATUS +PLAN +UPDATED\nses_\w+ +paused_on_human +review_text +2/);
    const waiting = JSON.parse(
      (await run("sessions", "list", "--status", "paused_on_human,running", "--json")).out,
    ) as {
      items: unknown[];
    };
    expect(waiting.items).toEqual(all.slice(0, 1));
    const page = async (...args: readonly string[]) =>
      JSON.parse((await run("sessions", "list", "--limit", "3", "--json", ...args)).out) as {
        items: unknown[];
        nextCursor?: string;
      };
    const first = await page();
    const second = await page("--cursor", first.nextCursor ?? "");
    expect([...first.items, ...second.items]).toEqual(all);
    expect(second.nextCursor).toBeUndefined();
  });
});

describe("what names nothing", () => {
  // A folder that is there: of one that is not, only that is said.
  const there = temporaryFolder();
  const runThere = (...args: readonly string[]): Promise<Answer> =>
    ergon([...args, "--data", join(there.path, "data")], { cwd: there.path });
  beforeAll(() => runThere("cancel", "ses_none"));
  afterAll(() => {
    try {
      leaveNothingOn(there.path);
    } finally {
      there.remove();
    }
  });

  it.each([
    [["sessions", "show", "ses_gone"], "session_not_found", /No session "ses_gone"/],
    [["sessions", "history", "ses_gone"], "session_not_found", /No session "ses_gone"/],
    [["resume", "ses_gone", "--input", "1"], "session_not_found", /No session "ses_gone"/],
    [["cancel", "ses_gone"], "session_not_found", /No session "ses_gone"/],
    [["blobs", "get", "0".repeat(64)], "blob_not_found", /No blob "0{64}"/],
    [["blobs", "get", "../token"], "blob_not_found", /No blob "\.\.\/token"/],
    [["plans", "show", "review_txt"], "plan_not_found", /Did you mean "review_text"\?/],
    [["plans", "validate", "gone.json"], "plan_invalid", /gone\.json: It cannot be read/],
    [["sessions", "list", "--status", "done"], "input_invalid", /"done" is no status; there are running, /],
    [["sessions", "list", "--limit", "0"], "input_invalid", /--limit takes a whole number from 1 to 1000/],
    [["sessions", "list", "--cursor", "x y"], "input_invalid", /cursor/],
    [["sessions", "lst"], "usage", /Did you mean "list"\?/],
    [["plans", "validat", "x"], "usage", /Did you mean "validate"\?/],
  ])("%j is refused with exit 2", async (args, code, message) => {
    const { out, err, code: exit } = await runThere(...args, "--json");
    expect({ exit, err }).toEqual({ exit: 2, err: "" });
    expect(JSON.parse(out)).toMatchObject({ error: { code, message: expect.stringMatching(message) as unknown } });
  });
});

describe("plans validate", () => {
  it("names every problem with its place and exits with 1", async () => {
    folder.write({
      "wrong.plan.yaml": PLAN_YAML.replace("demo::greet\n", "demo::gret\n").replace(
        "nextStepId: done",
        "nextStepId: don",
      ),
    });
    const people = await run("plans", "validate", "wrong.plan.yaml");
    expect(people.code).toBe(1);
    expect(people.out).toMatch(
      /^wrong\.plan\.yaml:\d+:\d+ error \$\.steps\[0\]\.toolId unknown_tool .*Did you mean "demo::greet"\?$/m,
    );
    expect(people.out).toMatch(/^wrong\.plan\.yaml:\d+:\d+ error \$\.steps\[0\]\.nextStepId \w+ .*"done"/m);
    expect(people.out).toMatch(/wrong\.plan\.yaml cannot run\n$/);
    const { out, code } = await run("plans", "validate", "wrong.plan.yaml", "--json");
    expect(code).toBe(1);
    const lines = PLAN_YAML.split("\n");
    const line = lines.findIndex((text) => text.includes("toolId: demo::greet")) + 1;
    const column = (lines[line - 1] ?? "").indexOf("demo::greet") + 1;
    const { problems } = JSON.parse(out) as { problems: { code: string }[] };
    expect(problems.find(({ code }) => code === "unknown_tool")).toMatchObject({ line, column });
    expect(JSON.parse(out)).toMatchObject({ ok: false });
    expect(existsSync(join(folder.path, "data"))).toBe(false);
  });

  it("says what a plan that can run will take", async () => {
    folder.write({ "fine.plan.yaml": PLAN_YAML });
    const { out, code } = await run("plans", "validate", "fine.plan.yaml");
    expect(code).toBe(0);
    expect(out).toMatch(/^ok fine\.plan\.yaml: 1 call, about [\d.]+ energy units?\n$/);
  });
});

describe("a value over 64 KiB", () => {
  const BYTES = 100_000;
  const plan = JSON.stringify({
    planId: "fills",
    startStepId: "fill",
    steps: [
      {
        id: "fill",
        type: "tool_call",
        toolId: "work::fill",
        arguments: { bytes: BYTES },
        saveAs: "filled",
        nextStepId: "count",
      },
      {
        id: "count",
        type: "tool_call",
        toolId: "demo::word_count",
        arguments: { text: { jsonPath: "$.context.filled.text" } },
        saveAs: "count",
        nextStepId: "done",
      },
      { id: "done", type: "final_response", message: { jsonPath: "$.context.count.characters" } },
    ],
  });

  it("is kept apart, is followed by pointers, and can be fetched whole", async () => {
    folder.write({ "fills.json": plan });
    const { out, code } = await run("run", "fills.json", "--capabilities", WORK, "--json");
    expect(code).toBe(0);
    const { finalResponse, context } = JSON.parse(out) as { finalResponse: unknown; context: Record<string, unknown> };
    expect(finalResponse).toBe(BYTES);
    const ref = context["filled"] as { $blob: string; bytes: number };
    expect(ref).toEqual({
      $blob: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      bytes: BYTES + 11,
      mediaType: "application/json",
    });
    const value = JSON.stringify({ text: "x".repeat(BYTES) });
    expect(await run("blobs", "get", ref.$blob)).toEqual({ code: 0, out: value, err: "" });
    const filed = await run("blobs", "get", ref.$blob, "-o", "kept.json");
    expect(filed).toEqual({ code: 0, out: "", err: `kept.json: ${String(BYTES + 11)} bytes, application/json\n` });
    expect(readFileSync(join(folder.path, "kept.json"), "utf8")).toBe(value);
    const { base64, ...described } = JSON.parse((await run("blobs", "get", ref.$blob, "--json")).out) as Record<
      string,
      string
    >;
    expect(described).toEqual({ id: ref.$blob, mediaType: "application/json", bytes: BYTES + 11 });
    expect(Buffer.from(base64 ?? "", "base64").toString()).toBe(value);
    for (const name of readdirSync(join(folder.path, "data")).filter((file) => file.startsWith("state.db")))
      expect(readFileSync(join(folder.path, "data", name)).includes("x".repeat(1_000))).toBe(false);
  });

  it("shows as what it is to people", async () => {
    folder.write({ "fills.json": plan.replace("$.context.count.characters", "$.context.filled") });
    const { out, code } = await run("run", "fills.json", "--capabilities", WORK);
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(
        `\\na blob of ${String(BYTES + 11)} bytes \\(application/json\\): npx ergon blobs get [0-9a-f]{64}\\n$`,
      ),
    );
  });
});

describe("Ctrl-C during a run", () => {
  const labels = ["one", "two", "three"];
  const begin = (...args: readonly string[]) => {
    const input = JSON.stringify({ ms: 0, labels });
    const named = ["--data", join(folder.path, "data"), "--capabilities", WORK];
    const child = start(["run", "chain", "--input", input, ...named, ...args], options());
    child.stdin.end();
    return { child, ended: finish(child) };
  };
  const leaving = (): Promise<void> =>
    until(
      "it has given up its place",
      () => !readFileSync(join(folder.path, "data/server.json"), "utf8").includes("url"),
    );

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "%s lets the step end, exits with %i, and the session goes on with the next command",
    async (signal, exit) => {
      hold(folder.path, "before two");
      const { child, ended } = begin();
      await until("the second step is under way", () => readAttempts(folder.path).some(({ label }) => label === "two"));
      child.kill(signal);
      await leaving();
      release(folder.path, "before two");
      const { out, err, code } = await ended;
      expect({ code }, err).toEqual({ code: exit });
      const [, sessionId = ""] = /^session (\S+)\n$/.exec(out) ?? [];
      expect(err).toMatch(
        new RegExp(
          `stopping; once more to stop at once\\n[^]*Session ${sessionId} had not finished; what is left of it goes on`,
        ),
      );
      expect(existsSync(join(folder.path, "data/server.json"))).toBe(false);
      expect(await sessions()).toMatchObject([{ sessionId, status: "running" }]);
      expect(readAttempts(folder.path).map(({ label }) => label)).toEqual(["one", "two"]);

      const next = start(
        ["serve", "--port", "0", "--data", join(folder.path, "data"), "--capabilities", WORK],
        options(),
      );
      const served = finish(next);
      await until("it was taken up", () => readAttempts(folder.path).some(({ label }) => label === "three"));
      for (let tries = 0; (await sessions())[0]?.status === "running" && tries < 20; tries += 1);
      next.kill("SIGTERM");
      expect((await served).code).toBe(0);
      expect(await sessions()).toMatchObject([{ sessionId, status: "completed" }]);
      expect(readAttempts(folder.path).map(({ label }) => label)).toEqual(labels);
    },
  );

  it("names the session to machines", async () => {
    hold(folder.path, "before two");
    const { child, ended } = begin("--json");
    await until("the second step is under way", () => readAttempts(folder.path).some(({ label }) => label === "two"));
    child.kill("SIGINT");
    await leaving();
    release(folder.path, "before two");
    const { out, code } = await ended;
    expect(code).toBe(130);
    expect(JSON.parse(out)).toMatchObject({
      sessionId: expect.stringMatching(/^ses_/) as unknown,
      core: { status: "running" },
    });
  });

  it("a second one does not wait, and nothing is lost either", async () => {
    hold(folder.path, "before two");
    const { child, ended } = begin();
    await until("the second step is under way", () => readAttempts(folder.path).some(({ label }) => label === "two"));
    child.kill("SIGINT");
    await leaving();
    child.kill("SIGINT");
    expect((await ended).code).toBe(130);
    release(folder.path, "before two");
    expect(await sessions()).toMatchObject([{ status: "running" }]);
  });
});
