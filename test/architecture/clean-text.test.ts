import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { readText, repositoryFiles, root } from "./source-files.ts";

// In pieces, so that this file does not find itself.
const traces = new RegExp(
  [
    `/${"work"}/`,
    `/${"home"}/\\w`,
    `/${"root"}/\\w`,
    `/${"Users"}/\\w`,
    `"resolved": "${"http"}`,
    `registry\\.${"npmjs"}`,
  ].join("|"),
);
const textFile = /(?:^|\/)(?:[^.]+|\.[^.]+|.*\.(?:[cm]?[jt]sx?|jsonc?|md|ya?ml|sql|sh|css|html|txt|toml|csv|svg))$/;

describe("what is published", () => {
  it("names no machine's paths and no download address", () => {
    const files = repositoryFiles(textFile);
    expect(files).toEqual(expect.arrayContaining(["package-lock.json", "LICENSE", ".ci/run", ".npmrc"]));
    expect(files.flatMap((file) => lines(file).map((line) => `${file}: ${line}`))).toEqual([]);
  });

  it("has commit messages without them, too", () => {
    const messages = execFileSync("git", ["log", "--format=%B"], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
    expect(messages.split("\n").filter((line) => traces.test(line))).toEqual([]);
  });
});

function lines(file: string): string[] {
  return readText(file)
    .split("\n")
    .filter((line) => traces.test(line))
    .map((line) => line.trim().slice(0, 120));
}
