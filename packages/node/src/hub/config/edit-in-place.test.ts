import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sha256Hex } from "@ergon/core/schema";
import { replacePrivateFile } from "../../tokens/private-file.ts";
import { openServersFile } from "./servers-file.ts";

let folder: string;
const path = (): string => join(folder, "mcp-servers.json");
const stateFolder = (): string => join(folder, "state");
const LONG = `{ "servers": [] ${" ".repeat(20_000)} }`;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-edit-"));
  writeFileSync(path(), LONG);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("an edit leaves the same file with the new text alone, longer or shorter, and nothing in the state folder", async () => {
  const { ino } = statSync(path());
  const file = openServersFile(path(), { stateFolder: stateFolder() });
  for (const text of ['{"servers":[]}', LONG, `${LONG} `, "{}"]) {
    await file.change(() => text);
    expect(readFileSync(path(), "utf8")).toBe(text);
  }
  expect(statSync(path()).ino).toBe(ino);
  expect(readdirSync(join(stateFolder(), "edits"))).toEqual([]);
  expect(readdirSync(folder).sort()).toEqual(["mcp-servers.json", "state"]);
});

it("an edit replaces the file where the state folder cannot be written", async () => {
  writeFileSync(stateFolder(), "no folder");
  const { ino } = statSync(path());
  await openServersFile(path(), { stateFolder: stateFolder() }).change(() => "{}");
  expect(readFileSync(path(), "utf8")).toBe("{}");
  expect(statSync(path()).ino).not.toBe(ino);
});

it("an edit through a link changes what it leads to", async () => {
  symlinkSync(path(), join(folder, "link.json"));
  await openServersFile(join(folder, "link.json"), { stateFolder: stateFolder() }).change(() => "{}");
  expect(readFileSync(path(), "utf8")).toBe("{}");
});

it("an edit that a process did not live to finish is finished when the file cannot be read, and only then", async () => {
  const kept = join(stateFolder(), "edits", `${sha256Hex(path()).slice(0, 32)}.json`);
  const edit = '{ "servers": [{ "id": "a", "command": "b" }] }';
  const file = openServersFile(path(), { stateFolder: stateFolder() });
  await replacePrivateFile(kept, edit);
  expect((await file.read()).servers).toEqual([]);
  writeFileSync(path(), LONG.replace('"servers": []', '"servers": [{ "id": "a", "com'));
  expect((await file.read()).servers).toMatchObject([{ id: "a" }]);
  expect(readFileSync(path(), "utf8")).toBe(edit);
  expect(readdirSync(join(stateFolder(), "edits"))).toEqual([]);
});
