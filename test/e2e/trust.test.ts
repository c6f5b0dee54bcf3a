// A data folder that came with a repository: no command uses it, changes it or runs anything of it.
import { execFileSync } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, ergon } from "./ergon.ts";
import { ownFolder } from "./own-folder.ts";
import { firstToken } from "./owner-access.ts";
import { serveFolder } from "./served.ts";

const PATIENCE = { timeout: 180_000 };
const folder = ownFolder();
const state = () => join(folder.path, "state");
const run = (cwd: string, ...args: readonly string[]): Promise<Answer> =>
  ergon(args, { cwd, env: { XDG_STATE_HOME: state() } });
const RUN = ["run", "review_text", "--input", `{"text":"hello world"}`] as const;

/** Every command that opens the data folder, and those that only read beside it. */
const COMMANDS: readonly (readonly string[])[] = [
  RUN,
  ["ask", "greet Ada"],
  ["serve", "--port", "0"],
  ["mcp"],
  ["resume", "ses_0"],
  ["sessions"],
  ["token", "show"],
  ["token", "add", "x"],
  ["servers"],
  ["servers", "search", "files"],
  ["approvals"],
  ["tools", "call", "demo::add", "--args", `{"a":1,"b":2}`],
  ["mcp", "install", "--client", "cursor", "--print"],
];

describe("a repository that was cloned with a data folder in it", () => {
  // A real one, as an attacker would make it: each of its files in turn is planted in a clone of its own.
  let made: string;
  beforeAll(async () => {
    made = mkdtempSync(join(tmpdir(), "ergon-planted-"));
    const env = { XDG_STATE_HOME: join(made, "state"), ERGON_LOOP_STORE: "sqlite" };
    const cwd = join(made, "project");
    mkdirSync(cwd);
    await ergon(RUN, { cwd, env });
    await ergon(["ask", "greet Ada"], { cwd, env });
    await ergon(["token", "add", "evil", "--scope", "person"], { cwd, env });
    const data = join(cwd, ".ergon");
    const text = (name: string, content: string) => {
      if (!existsSync(join(data, name))) writeFileSync(join(data, name), content);
    };
    for (const name of ["logins", "sandbox", "servers/evil"]) mkdirSync(join(data, name), { recursive: true });
    text("logins/x.json", "{}");
    text("sandbox/python-1.snapshot", "x");
    text("servers/evil/index.js", "");
    text("token", `ergon_${"A".repeat(43)}\n`);
    text("server.json", `{"pid":1,"url":"http://127.0.0.1:9"}`);
    for (const name of [
      "approvals.db",
      "conversations.db",
      "memory.db",
      "loops.db",
      "state.db-log1",
      "subagent.db",
      "hub.db",
      "registry.db",
      "eras.json",
      "config.json",
      "mcp-servers.json",
      "owner.db",
    ])
      text(name, "{}");
  }, 120_000);
  afterAll(() => rmSync(made, { recursive: true, force: true }));

  it("stops every command with the way out, whichever file is planted, and nothing is changed", PATIENCE, async () => {
    const from = join(made, "project/.ergon");
    const names = readdirSync(from).filter((name) => name !== ".gitignore");
    expect(names).toEqual(
      expect.arrayContaining([
        "approvals.db",
        "conversations.db",
        "id",
        "memory.db",
        "state.db",
        "tokens.json",
        "token",
      ]),
    );
    for (const [index, name] of names.entries()) {
      const clone = plant((data) => cpSync(join(from, name), join(data, name), { recursive: true }));
      const before = listing(clone);
      // Each file with the command of its turn; over all files every command comes by.
      const commands = [RUN, COMMANDS[1 + (index % (COMMANDS.length - 1))] ?? RUN];
      for (const command of commands) {
        const { code, out, err } = await run(clone, ...command);
        expect({ name, command, code, out }, err).toEqual({ name, command, code: 1, out: "" });
        expect(err).toContain(`ergon trust ${join(clone, ".ergon")}`);
      }
      expect(listing(clone), name).toEqual(before);
    }
    expect(existsSync(join(state(), "ergon/allowed-servers.json"))).toBe(false);
  });

  it("stops every command", PATIENCE, async () => {
    const clone = plant((data) => cpSync(join(made, "project/.ergon"), data, { recursive: true }));
    for (const command of COMMANDS) {
      const { code, out, err } = await run(clone, ...command);
      expect({ command, code, out }, err).toEqual({ command, code: 1, out: "" });
    }
    const examined = await run(clone, "doctor", "--json");
    expect(examined.code).toBe(1);
    expect(examined.out).toContain("was not made by your Ergon here");
  });

  it("stops them though git tracks it and it is named, and says how to take it out", async () => {
    const clone = plant((data) => cpSync(join(made, "project/.ergon"), data, { recursive: true }));
    execFileSync("git", ["init", "-q"], { cwd: clone });
    execFileSync("git", ["add", "-f", ".ergon/token"], { cwd: clone });
    for (const flags of [[], ["--data", ".ergon"]]) {
      const { code, err } = await run(clone, ...RUN, ...flags);
      expect(code).toBe(1);
      expect(err).toContain(`git rm -r --cached ${join(clone, ".ergon")}`);
    }
    expect((await run(clone, "trust", ".ergon")).code).toBe(1);
  });

  it("gives doctor no settings when git tracks it, though it is named: they name code that would run", async () => {
    const clone = plant((data) => writeFileSync(join(data, "config.json"), `{"capabilities":["../evil"]}`));
    mkdirSync(join(clone, "evil/tools"), { recursive: true });
    const proof = join(clone, "proof");
    const code = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(proof)}, "");`;
    writeFileSync(join(clone, "evil/tools/evil.tool.ts"), code);
    execFileSync("git", ["init", "-q"], { cwd: clone });
    execFileSync("git", ["add", "-f", "."], { cwd: clone });
    const { code: exit, out } = await run(clone, "doctor", "--data", ".ergon");
    expect(exit).toBe(1);
    expect(out).toContain("is tracked by git");
    expect(existsSync(proof)).toBe(false);
  });

  it.runIf(process.geteuid?.() === 0)("stops them when it belongs to another user", async () => {
    const clone = plant(() => undefined);
    chownSync(join(clone, ".ergon"), 65_534, 65_534);
    for (const flags of [[], ["--data", ".ergon"]]) {
      const { code, err } = await run(clone, ...RUN, ...flags);
      expect(code).toBe(1);
      expect(err).toContain("belongs to user 65534");
    }
  });

  it("overwrites no file that a link in it names, though the folder is named", async () => {
    const victim = join(folder.path, "bashrc");
    writeFileSync(victim, "mine");
    for (const name of ["state.db", "state.db-log1", "owner.db", "approvals.db", "servers"]) {
      const clone = plant((data) => symlinkSync(victim, join(data, name)));
      for (const flags of [[], ["--data", ".ergon"]]) {
        const { code, err } = await run(clone, ...RUN, ...flags);
        expect(code, name).toBe(1);
        expect(err).toContain(`${name} is a symbolic link`);
      }
    }
    expect(readFileSync(victim, "utf8")).toBe("mine");
  });

  function plant(fill: (data: string) => void): string {
    const clone = mkdtempSync(join(folder.path, "clone-"));
    const data = join(clone, ".ergon");
    mkdirSync(data, { mode: 0o755 });
    fill(data);
    return clone;
  }
});

describe("a data folder that Ergon made itself", () => {
  it("is used again without a word, and where it was moved to with one", PATIENCE, async () => {
    const here = at("here");
    const first = await run(here, ...RUN);
    expect(first, first.err).toMatchObject({ code: 0 });
    expect((await run(here, ...RUN)).err).not.toMatch(/trust|known here/);
    renameSync(join(here, ".ergon"), join(at("there"), ".ergon"));
    const moved = await run(at("there"), "sessions");
    expect(moved, moved.err).toMatchObject({ code: 0 });
    expect(moved.err).toContain(`was at ${join(here, ".ergon")} before`);
    expect((await run(at("there"), "sessions")).err).not.toContain("before");
  });

  it("is used by name with a fresh home, as a kept volume is", PATIENCE, async () => {
    const here = at("here");
    await run(here, ...RUN, "--data", "volume");
    rmSync(state(), { recursive: true });
    const again = await run(here, "sessions", "--json", "--data", "volume");
    expect(again, again.err).toMatchObject({ code: 0 });
    expect((JSON.parse(again.out) as { items: unknown[] }).items).toHaveLength(1);
  });

  it("is used by name where no state folder can be written; a server then needs ERGON_TOKEN", PATIENCE, async () => {
    const here = at("here");
    const env = { XDG_STATE_HOME: "/dev/null/none" };
    const short = await ergon([...RUN, "--data", "volume"], { cwd: here, env });
    expect(short, short.err).toMatchObject({ code: 0 });
    expect(short.err).toContain("state folder /dev/null/none/ergon");
    const found = await ergon(RUN, { cwd: here, env });
    expect(found.code).toBe(1);
    expect(found.err).toContain("set XDG_STATE_HOME");
    const refused = await ergon(["serve", "--port", "0", "--data", "volume"], { cwd: here, env });
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("ERGON_TOKEN") as unknown });
    const token = "e".repeat(40);
    const served = await serveFolder(join(here, "volume"), { cwd: here, env: { ...env, ERGON_TOKEN: token }, token });
    const through = await ergon(["sessions", "--data", "volume", "--json"], {
      cwd: here,
      env: { ...env, ERGON_TOKEN: token },
    });
    expect(through, through.err).toMatchObject({ code: 0 });
    await served.stop("SIGTERM");
  });

  it("is asked about as a copy, and has an id of its own then", PATIENCE, async () => {
    const here = at("here");
    await run(here, ...RUN);
    cpSync(join(here, ".ergon"), join(at("copy"), ".ergon"), { recursive: true });
    const refused = await run(at("copy"), "sessions");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("is a copy of a data folder");
    expect((await run(at("copy"), "trust", ".ergon")).code).toBe(0);
    const copied = await run(at("copy"), "sessions", "--json");
    expect((JSON.parse(copied.out) as { items: unknown[] }).items).toHaveLength(1);
    expect((await run(here, "sessions")).code).toBe(0);
    const id = (name: string) => readFileSync(join(at(name), ".ergon/id"), "utf8");
    expect(id("copy")).not.toBe(id("here"));
  });
});

describe("ergon trust", () => {
  it("shows what is in a folder, changes nothing with --dry-run, and has it used from then on", PATIENCE, async () => {
    const here = at("here");
    await run(here, ...RUN);
    const data = join(here, ".ergon");
    // As 0.1.0 left it.
    for (const name of ["id", ".gitignore", "owner.sock"]) rmSync(join(data, name), { force: true });
    rmSync(state(), { recursive: true });
    const token = `ergon_${"o".repeat(43)}`;
    writeFileSync(join(data, "token"), `${token}\n`, { mode: 0o600 });
    const refused = await run(here, "sessions");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("was made by Ergon 0.1.0");
    expect(refused.err).toContain(`run: ergon trust ${data}.`);

    const before = listing(here);
    const shown = await run(here, "trust", "--dry-run", ".ergon");
    expect(shown, shown.err).toMatchObject({ code: 0 });
    expect(shown.out).toMatch(/^\/.*\.ergon: \d+ entries, mode 0700, user \d+\nNAME[^]*state\.db +file +0600/);
    expect(listing(here)).toEqual(before);

    const trusted = await run(here, "trust", ".ergon", "--json");
    expect(trusted, trusted.err).toMatchObject({ code: 0 });
    expect(JSON.parse(trusted.out)).toMatchObject({ folder: data, trusted: true, mode: "0700" });
    expect((await run(here, "sessions")).code).toBe(0);
    expect(firstToken(data, { XDG_STATE_HOME: state() }), "the token is moved").toBe(token);
    expect(existsSync(join(data, "token"))).toBe(false);
    expect((await run(here, "token", "show")).out).toBe(`${token}\n`);
  });

  it("alone takes over a token that lies in a folder, not the naming of it", PATIENCE, async () => {
    const here = at("here");
    mkdirSync(join(here, "unpacked"));
    const planted = `ergon_${"p".repeat(43)}`;
    writeFileSync(join(here, "unpacked", "token"), `${planted}\n`, { mode: 0o600 });
    const named = await run(here, ...RUN, "--data", "unpacked");
    expect(named.err).toContain("a token of an earlier Ergon, is not used");
    const { out } = await run(here, "token", "show", "--data", "unpacked");
    expect(out).toMatch(/^ergon_/);
    expect(out).not.toContain(planted);
  });

  it("says that there is nothing to trust", async () => {
    expect(await run(at("here"), "trust", "nothing")).toMatchObject({
      code: 2,
      err: expect.stringContaining("There is no folder") as unknown,
    });
  });
});

function at(name: string): string {
  const path = join(folder.path, name);
  mkdirSync(path, { recursive: true });
  return path;
}

function listing(root: string): unknown {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const { mode, ino, mtimeMs, size } = lstatSync(join(root, name));
      return [name, mode, ino, mtimeMs, size];
    });
}
