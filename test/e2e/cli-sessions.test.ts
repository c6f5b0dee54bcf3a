import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answer, ergon, temporaryFolder } from "./ergon.ts";
import { leaveNothingOn } from "./processes.ts";
import { serveFolder } from "./served.ts";

let folder: ReturnType<typeof temporaryFolder>;
let data: string;
beforeEach(() => {
  folder = temporaryFolder();
  data = join(folder.path, "data");
});
afterEach(() => {
  try {
    leaveNothingOn(folder.path);
  } finally {
    folder.remove();
  }
});

describe("looking where there is no data folder", () => {
  it("says so and makes none", async () => {
    const listed = await run("sessions", "--json");
    expect([listed.code, JSON.parse(listed.out)]).toEqual([0, { items: [] }]);
    for (const words of [
      ["show", "ses_1"],
      ["history", "ses_1"],
      ["diff", "ses_1", "ses_2"],
    ]) {
      const { code, err } = await run("sessions", ...words);
      expect([code, err]).toEqual([2, expect.stringContaining(`There is no data folder at ${data} yet`)]);
    }
    expect(existsSync(data)).toBe(false);
  }, 120_000);

  it("names a mistyped word of a group", async () => {
    const { code, err } = await run("sessions", "shwo", "ses_1");
    expect([code, err]).toEqual([2, expect.stringMatching(/no command "ergon sessions shwo".*"show"/)]);
    expect(existsSync(data)).toBe(false);
  }, 60_000);
});

describe("single tool calls", () => {
  it("are in the list of sessions only when asked for", async () => {
    expect((await run("tools", "call", "demo::greet", "--args", '{"who":"Ada"}')).code).toBe(0);
    const ids = async (...flags: string[]) =>
      (JSON.parse((await run("sessions", "list", "--json", ...flags)).out) as { items: { sessionId: string }[] }).items;
    expect(await ids()).toEqual([]);
    expect(await ids("--all")).toMatchObject([{ sessionId: expect.stringMatching(/^call_/) }]);
  }, 120_000);

  it("through the owner carry their role; strangers cannot say that a person typed them", async () => {
    const owner = await serveFolder(data, { cwd: folder.path });
    const local = JSON.parse(
      (await run("tools", "call", "demo::greet", "--args", '{"who":"Ada"}', "--role", "analyst", "--json")).out,
    ) as unknown;
    expect(local).toMatchObject({ output: expect.anything() });
    const headers = { authorization: `Bearer ${owner.token}`, "content-type": "application/json" };
    for (const extra of [{ typed: true }, { role: "analyst" }]) {
      const body = JSON.stringify({ args: { who: "Ada" }, ...extra });
      const answer = await fetch(new URL("/tools/demo::greet/call", owner.url), { method: "POST", headers, body });
      expect(answer.status).toBe(403);
    }
    await owner.stop("SIGTERM");
  }, 120_000);
});

function run(...args: readonly string[]): Promise<Answer> {
  return ergon([...args, "--data", data], { cwd: folder.path });
}
