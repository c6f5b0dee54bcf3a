import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Correction } from "@ergon/core/schema";
import type { SessionView } from "@ergon/core/engine";
import { openSqliteStateStore } from "@ergon/node";
import { describe, expect, it } from "vitest";
import { type Answer, ergon, finish, start } from "./ergon.ts";
import { readAllEvents } from "./kill/evidence.ts";
import { ownFolder } from "./own-folder.ts";
import { serveFolder } from "./served.ts";
import { readAttempts, readSent, WORK } from "./work-log.ts";

/** A kill meets the moment between proposing and applying in a few tries; it has so many. */
const MAX_KILLS = 40;

const folder = ownFolder();

type Env = Readonly<Record<string, string>>;
const options = (env: Env = {}) => ({ cwd: folder.path, env: { WORK_LOG: folder.path, ...env } });
const flags = (data = "data") => ["--data", join(folder.path, data), "--capabilities", WORK];
const run = (args: readonly string[], env: Env = {}): Promise<Answer> => ergon([...args, ...flags()], options(env));
const sessionIn = (out: string): string => /session (\S+)/.exec(out)?.[1] ?? "";
const read = async (sessionId: string): Promise<SessionView> =>
  JSON.parse((await run(["sessions", "show", sessionId, "--json"])).out) as SessionView;

/** Arguments to repair, a call to repeat, a question, and a call that may be made only once. */
const PLAN = {
  planId: "mends",
  startStepId: "count",
  steps: [
    {
      id: "count",
      type: "tool_call",
      toolId: "work::book",
      arguments: { label: "sheep", ms: { jsonPath: "$.promptInput.ms" } },
      nextStepId: "fix",
    },
    { id: "fix", type: "tool_call", toolId: "work::flaky", arguments: { label: "fence" }, nextStepId: "ask" },
    { id: "ask", type: "human_in_the_loop", message: "What now?", saveAs: "text", nextStepIdOnInput: "send" },
    {
      id: "send",
      type: "tool_call",
      toolId: "work::send",
      arguments: { label: { jsonPath: "$.context.text" } },
      nextStepId: "done",
    },
    { id: "done", type: "final_response", message: "Sent: {{$.context.text}}" },
  ],
};
const INPUT = `{"ms": "1"}`;

describe("a plan that fails", () => {
  it("is repaired, pauses for a person, survives SIGKILL, is answered from the CLI and completes", async () => {
    folder.write({ "mends.json": JSON.stringify(PLAN) });
    const owner = await serveFolder(join(folder.path, "data"), { ...options(), args: ["--capabilities", WORK] });
    const asked = await run(["run", "mends.json", "--input", INPUT]);
    expect(asked, asked.err).toMatchObject({ code: 3 });
    const lines = asked.err.split("\n").map((line) => line.replaceAll(/cor_\w+/g, "cor_…"));
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^✗ count args_invalid /),
        '⚑ count Call "work::book" with repaired arguments: ms "1" → 1',
        "⚒ count corrected by cor_… (repair_arguments)",
        "✓ count work::book",
        expect.stringMatching(/^✗ fix tool_failed /),
        '⚑ fix Try "fix" once more in 200 ms: fence is busy; try again.',
        "⚒ fix corrected by cor_… (retry)",
        "✓ fix work::flaky",
      ]),
    );
    await owner.stop("SIGKILL");
    const sessionId = sessionIn(asked.out);
    const answer = await run(["resume", sessionId, "--input", `"hello"`, "--json"]);
    expect(answer, answer.err).toMatchObject({ code: 0 });
    expect(JSON.parse(answer.out)).toMatchObject({ finalResponse: "Sent: hello" });

    const { corrections = [] } = await read(sessionId);
    expect(corrections.map(({ path, strategy, state }) => [path, strategy, state])).toEqual([
      ["count", "repair_arguments", "applied"],
      ["fix", "retry", "applied"],
    ]);
    expect(corrections[0]?.diff).toEqual([{ op: "replace", path: "/steps/0/arguments/ms", from: "1", value: 1 }]);
    const tries = readAttempts(folder.path).filter(({ tool }) => tool === "flaky");
    expect(tries).toHaveLength(2);
    expect(new Set(tries.map(({ key }) => key)).size, "a retry keeps its key").toBe(1);
    for (const { correctionId } of corrections) {
      const own = await read(correctionId);
      expect(own).toMatchObject({ core: { status: "completed" }, context: { corrects: { sessionId } } });
    }
    const shown = await run(["sessions", "show", sessionId]);
    expect(shown.out).toMatch(
      /⚒ count: Call "work::book" with repaired arguments.* \(applied, cor_\w+\)\n.*~ \/steps\/0\/arguments\/ms "1" → 1/,
    );
    const history = await run(["sessions", "history", sessionId]);
    expect(history.out.split("\n").map((line) => /(?:⚒ (\w+)|Z {2}(\w+))/.exec(line)?.slice(1).join("") ?? "")).toEqual(
      ["count", "", "count", "fix", "fix", "", "fix", "send", ""],
    );
  });

  it("ends with 4 once the supervisor has used its tries, and says that a person is needed", async () => {
    const plan = {
      planId: "never",
      startStepId: "try",
      steps: [{ id: "try", type: "tool_call", toolId: "demo::fail" }],
    };
    folder.write({ "never.json": JSON.stringify(plan) });
    const { code, out } = await run(["run", "never.json", "--json"]);
    expect(code).toBe(4);
    expect(JSON.parse(out)).toMatchObject({ core: { lastError: { needsPerson: true, stepId: "try" } } });
    expect((await read((JSON.parse(out) as { sessionId: string }).sessionId)).corrections).toHaveLength(3);
  });
});

describe("a process that ends by SIGKILL between proposing a correction and applying it", () => {
  it("leaves the proposal to whoever comes next, and to the person who was asked", async () => {
    folder.write({ "mends.json": JSON.stringify(PLAN) });
    const env = { ERGON_CORRECTIONS: "ask" };
    const serve = () => serveFolder(join(folder.path, "data"), { ...options(env), args: ["--capabilities", WORK] });
    const first = await serve();
    const asked = await run(["run", "mends.json", "--input", INPUT]);
    expect(asked, asked.err).toMatchObject({ code: 4 });
    expect(asked.out).toMatch(/proposed: Call "work::book" with repaired arguments/);
    expect(asked.err).toMatch(/Go on with: .*"action":"accept"/);
    await first.stop("SIGKILL");

    const second = await serve();
    const sessionId = sessionIn(asked.out);
    expect(await read(sessionId)).toMatchObject({
      core: { waiting: [{ kind: "error", correction: { accepted: false } }] },
      corrections: [{ state: "proposed" }],
    });
    await expectOnlyAPersonMayAccept(second);
    const accepted = await run(["resume", sessionId, "--input", `{"action":"accept"}`]);
    expect(accepted, accepted.err).toMatchObject({ code: 4 });
    expect(accepted.out).toMatch(/proposed: Try "fix" once more/);
    const retried = await run(["resume", sessionId, "--input", `{"action":"accept"}`]);
    expect(retried, retried.err).toMatchObject({ code: 3 });
    expect(await second.stop("SIGTERM")).toBe(0);
    const answer = await run(["resume", sessionId, "--input", `"hello"`]);
    expect(answer, answer.err).toMatchObject({ code: 0, out: "Sent: hello\n" });
    expect(readSent(folder.path)).toHaveLength(1);
  });

  it("has it applied once by the next, when nobody is asked", { timeout: 300_000 }, async () => {
    const plan = {
      planId: "counts",
      startStepId: "count",
      steps: [
        { ...PLAN.steps[0], nextStepId: "send" },
        { id: "send", type: "tool_call", toolId: "work::send", arguments: { label: "letter" } },
      ],
    };
    folder.write({ "counts.json": JSON.stringify(plan) });
    let between = 0;
    for (let kills = 0; kills < MAX_KILLS && between < 2; kills++) {
      const name = `kill-${String(kills)}`;
      const log = join(folder.path, "logs", name);
      mkdirSync(log, { recursive: true });
      const env = { cwd: folder.path, env: { WORK_LOG: log } };
      const sessionId = await killedWhenProposing(name, env);
      if (sessionId === undefined) continue;
      const [found] = await correctionsIn(name, sessionId);
      if (found?.state === "accepted") between++;
      // Whatever works on the folder next is its owner, supervisor included.
      const next = await ergon(["run", "welcome_team", "--input", `{"names":[]}`, ...flags(name)], env);
      expect(next, next.err).toMatchObject({ code: 0 });
      await until(name, sessionId, env);
      const [applied, ...more] = await correctionsIn(name, sessionId);
      expect(applied?.state).toBe("applied");
      expect(more).toEqual([]);
      expect(readSent(log).length, "sent once, or known not to be").toBeLessThanOrEqual(1);
    }
    expect(between, "kills between proposing and applying").toBeGreaterThan(0);
  });
});

/** Starts the plan and ends its process as soon as it tells of a correction. */
async function killedWhenProposing(name: string, env: Parameters<typeof start>[1]): Promise<string | undefined> {
  const child = start(["run", "counts.json", "--input", INPUT, ...flags(name)], env);
  child.stderr.on("data", (chunk: Buffer) => {
    if (chunk.includes("⚑")) child.kill("SIGKILL");
  });
  const { out } = await finish(child);
  return child.signalCode === "SIGKILL" ? sessionIn(out) : undefined;
}

async function until(name: string, sessionId: string, env: Parameters<typeof start>[1]): Promise<void> {
  for (let tries = 0; tries < 30; tries++) {
    const { out } = await ergon(["sessions", "show", sessionId, "--json", ...flags(name)], env);
    const { core } = JSON.parse(out) as SessionView;
    if (core.status === "completed" || core.lastError?.code === "outcome_unknown") return;
    await ergon(["run", "welcome_team", "--input", `{"names":[]}`, ...flags(name)], env);
  }
  throw new Error(`Session ${sessionId} does not come to an end.`);
}

async function correctionsIn(name: string, sessionId: string): Promise<Correction[]> {
  const store = openSqliteStateStore({ path: join(folder.path, name, "state.db") });
  try {
    const rows = await store.readContext(sessionId, ["~corrections"]);
    const corrections = rows.map(({ value }) => Correction.parse(value.kind === "inline" ? value.value : undefined));
    const applied = (await readAllEvents(store)).filter(({ type }) => type === "correction-applied");
    expect(applied).toHaveLength(corrections.filter(({ state }) => state === "applied").length);
    return corrections;
  } finally {
    await store.close();
  }
}

/** An agent whose own session waits may answer much, but not this. */
async function expectOnlyAPersonMayAccept({ url, token }: { readonly url: string; readonly token: string }) {
  const ask = async (path: string, by: string, body: object): Promise<Response> =>
    await fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${by}`, "content-type": "application/json", prefer: "wait=20" },
      body: JSON.stringify(body),
    });
  const { token: agent } = (await (await ask("/tokens", token, { name: "bot" })).json()) as { token: string };
  const { sessionId } = (await (await ask("/sessions", agent, {})).json()) as { sessionId: string };
  const ran = await ask(`/sessions/${sessionId}/execute-plan`, agent, { plan: PLAN, input: { ms: "1" } });
  expect(ran.status).toBe(200);
  const view = (await ran.json()) as SessionView;
  expect(view).toMatchObject({
    core: { status: "paused_on_error", lastError: { needsPerson: true } },
    corrections: [{ state: "proposed", diff: [{ from: "1", value: 1 }] }],
  });
  const resume = async (action: string): Promise<number> =>
    (await ask(`/sessions/${sessionId}/resume`, agent, { input: { action } })).status;
  expect([await resume("accept"), await resume("refuse"), await resume("acept")]).toEqual([403, 403, 422]);
  expect(await resume("abort")).toBe(200);
}
