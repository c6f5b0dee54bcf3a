import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answer, ergon, temporaryFolder } from "./ergon.ts";
import { leaveNothingOn } from "./processes.ts";
import { serveFolder, type ServedFolder } from "./served.ts";
import { readAttempts, WORK } from "./work-log.ts";

let folder: ReturnType<typeof temporaryFolder>;
let data: string;
let log: string;
let owner: ServedFolder | undefined;

beforeEach(() => {
  folder = temporaryFolder();
  data = join(folder.path, "data");
  log = join(folder.path, "log");
  mkdirSync(log);
});
afterEach(async () => {
  await owner?.stop("SIGTERM");
  owner = undefined;
  try {
    leaveNothingOn(folder.path);
  } finally {
    folder.remove();
  }
});

const TEXT = '{"text":"Ergon runs plans. A step that has finished never runs again."}';

describe.each([["by itself"], ["through the owner of the folder"]])("ergon fork and sessions diff, %s", (how) => {
  it("goes on from a step with another input, leaves the source alone, and compares the two", async () => {
    owner = how === "by itself" ? undefined : await serveFolder(data, { cwd: folder.path });
    const source = sessionOf(await run("run", "review_text", "--input", TEXT));
    const before = await shown(source);

    const other = '{"text":"One. Two. Three."}';
    const forked = await run("fork", source, "--from", "ask", "--input", other);
    expect(forked.out).toMatch(new RegExp(`^session ses_\\w+, forked from ${source} at ask\n`));
    expect(forked.code, forked.err).toBe(3);
    const fork = sessionOf(forked);
    expect(await shown(fork)).toMatchObject({ core: { forkedFrom: { sessionId: source, stepId: "ask" } } });
    expect((await run("sessions", "show", fork)).out).toContain(`forked from ${source} at ask`);

    const answered = await run("resume", fork, "--input", '{"pass":true}', "--json");
    expect(answered.code, answered.err).toBe(0);
    expect(await shown(source)).toEqual(before);
    await run("resume", source, "--input", '{"pass":false}');

    const diff = await run("sessions", "diff", source, fork);
    expect(diff.out).toMatch(/^A ses_\w+ .*\nB ses_\w+ .*forked from/);
    expect(diff.out).toMatch(/~ context\.human_input: \{"pass":false.*\} → \{"pass":true.*\}/);
    expect(diff.out).toContain("2 the same, 0 changed, 0 only in A, 0 only in B");
    const json = JSON.parse((await run("sessions", "diff", source, fork, "--json")).out) as { same: number };
    expect(json.same).toBe(2);

    for (const [step, code, words] of [
      ["aks", 2, 'Did you mean "ask"'],
      ["count", 2, "inside another step"],
    ] as const) {
      const refused = await run("fork", source, "--from", step);
      expect([refused.code, refused.err]).toEqual([code, expect.stringContaining(words)]);
    }
    expect((await run("fork", "nobody", "--from", "ask")).code).toBe(2);
    const wrong = await run("fork", source, "--from", "ask", "--input", '{"text":1}');
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("$.input.text")]);
    expect((await run("sessions", "diff", source, "nobody")).code).toBe(2);
  }, 300_000);
});

describe("ergon run --dry-run", () => {
  it("says what a plan would do, calls nothing, and makes no data folder", async () => {
    const { out, err, code } = await run("run", "review_text", "--input", TEXT, "--dry-run");
    expect(code, err).toBe(0);
    expect(out).toMatch(/^dry run of review_text: nothing was called, asked or kept/);
    expect(out).toMatch(/look\[0\]\/count +demo::word_count +pure/);
    expect(out).toContain("no output schema, taken as null: summarizeText");
    expect(out).toContain("not reached with these values: ask");
    const chain = await run("run", "chain", "--input", '{"ms":0,"labels":["one","two"]}', "--dry-run", "--json");
    expect(chain.code, chain.err).toBe(0);
    expect(JSON.parse(chain.out)).toMatchObject({
      dryRun: true,
      planId: "chain",
      ok: true,
      calls: [
        { path: "each[0]/book", arguments: { label: "one" } },
        { path: "each[1]/book", arguments: { label: "two" } },
      ],
    });
    expect(readAttempts(log)).toEqual([]);
    expect(existsSync(data)).toBe(false);
    expect((await run("run", "none", "--dry-run")).code).toBe(2);
    const wrong = await run("run", "review_text", "--input", "{}", "--dry-run");
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("text")]);
    expect(existsSync(data)).toBe(false);
  }, 120_000);
});

function run(...args: readonly string[]): Promise<Answer> {
  return ergon([...args, "--data", data, "--capabilities", WORK], { cwd: folder.path, env: { WORK_LOG: log } });
}

function sessionOf({ out, err }: Answer): string {
  const [, id] = /^session (ses_\w+)/.exec(out) ?? [];
  if (id === undefined) throw new Error(`No session was named: ${out}${err}`);
  return id;
}

async function shown(sessionId: string): Promise<unknown> {
  return JSON.parse((await run("sessions", "show", sessionId, "--json")).out) as unknown;
}
