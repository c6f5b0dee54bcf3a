// Every plan of the guide is run as a reader would, and does what the guide says.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ergon, temporaryFolder } from "./ergon.ts";

type Example = {
  readonly planId: string;
  readonly plan: string;
  readonly input: string;
  readonly answer: string | undefined;
  readonly response: string;
};

const guide = readFileSync(join(import.meta.dirname, "../../docs/guides/plans.md"), "utf8");
const blocks = [...guide.matchAll(/^```json\n(.*?)^```\n\n(.*?)\n(?:\n|$)/gms)];
const OUTCOME = /^With the input `(.+?)` (?:the run waits; the answer `(.+?)` gives )?the response is `(.+)`\.$/;
const OUTCOME_AFTER_WAIT = /^With the input `(.+?)` the run waits; the answer `(.+?)` gives the response `(.+)`\.$/;
const examples: readonly Example[] = blocks.map(([, plan = "", said = ""]) => {
  const [, input = "", answer, response = ""] = OUTCOME_AFTER_WAIT.exec(said) ?? OUTCOME.exec(said) ?? [];
  return { planId: (JSON.parse(plan) as { planId: string }).planId, plan, input, answer, response };
});

describe("the guide about plans", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeAll(() => {
    folder = temporaryFolder();
  });
  afterAll(() => folder.remove());
  const run = (...args: readonly string[]) =>
    ergon(["--data", join(folder.path, "data"), ...args, "--json"], { cwd: folder.path });

  it("says of each plan what it does", () => {
    expect(blocks.length).toBe([...guide.matchAll(/^```json$/gm)].length);
    expect(examples.filter(({ response }) => response === "").map(({ planId }) => planId)).toEqual([]);
  });

  it.each(examples)("$planId", async ({ planId, plan, input, answer, response }) => {
    folder.write({ [`${planId}.plan.json`]: plan });
    const checked = await run("plans", "validate", `${planId}.plan.json`);
    expect(JSON.parse(checked.out)).toMatchObject({ ok: true, problems: [] });
    const started = await run("run", `${planId}.plan.json`, "--input", input);
    const { sessionId } = JSON.parse(started.out) as { sessionId: string };
    const ended = answer === undefined ? started : await run("resume", sessionId, "--input", answer);
    expect(ended, ended.err).toMatchObject({ code: 0 });
    expect(JSON.parse(ended.out)).toMatchObject({ finalResponse: JSON.parse(response) as unknown });
  });
});
