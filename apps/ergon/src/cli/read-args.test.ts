import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { MAX_ARGS_BYTES, readArgs } from "./read-args.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-args-"));
  writeFileSync(join(folder, "args.json"), `{"a": "ä"}`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("reads JSON, a file and stdin", async () => {
  expect(await readArgs(`{"a": 1}`, Readable.from([]))).toEqual({ a: 1 });
  expect(await readArgs(`@${join(folder, "args.json")}`, Readable.from([]))).toEqual({ a: "ä" });
  const bytes = Buffer.from(`{"a": "ä"}`);
  // Cut in the middle of a character.
  expect(await readArgs("-", Readable.from([bytes.subarray(0, 8), bytes.subarray(8)]))).toEqual({ a: "ä" });
});

it.each([
  [`{"a": 1,}`, /--args is not JSON: .*line 1, column 9/],
  ["[1]", /must be a JSON object/],
  ["null", /must be a JSON object/],
  ["", /ends too early/],
  ["@", /names no file/],
  ["@/no/such/file", /\/no\/such\/file.*cannot be read/],
])("refuses %j", async (given, reason) => {
  await expect(readArgs(given, Readable.from([]))).rejects.toThrow(reason);
});

it("reads so much and no more", async () => {
  const padded = (bytes: number) => Readable.from([Buffer.alloc(bytes - 2, " "), Buffer.from("{}")]);
  expect(await readArgs("-", padded(MAX_ARGS_BYTES))).toEqual({});
  await expect(readArgs("-", padded(MAX_ARGS_BYTES + 1))).rejects.toThrow(/more than 67108864/);
});
