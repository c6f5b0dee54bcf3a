import { homedir } from "node:os";
import { expect, it } from "vitest";
import { dataRootsFor } from "./data-roots.ts";

it("data tools read below the folders that were named, and nothing else", () => {
  expect(dataRootsFor(["/a", "/b"], "/projects", "/samples")).toEqual(["/a", "/b"]);
});

it("without a name they read below the working folder and the samples", () => {
  expect(dataRootsFor([], "/projects/here", "/samples")).toEqual(["/projects/here", "/samples"]);
});

it.each(["/", homedir()])("but never below all of %s, unless it is named", (folder) => {
  expect(dataRootsFor([], folder, "/samples")).toEqual(["/samples"]);
  expect(dataRootsFor([folder], folder, "/samples")).toEqual([folder]);
});
