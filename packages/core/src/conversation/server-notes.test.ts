import { expect, it } from "vitest";
import { createServerNotes } from "./server-notes.ts";

it("tells a server's fall and its return, each once, and nothing of a first start", () => {
  const note = createServerNotes();
  const files = { serverId: "f", name: "files" };
  expect(note({ ...files, state: "starting" })).toBeUndefined();
  expect(note({ ...files, state: "ready" })).toBeUndefined();
  expect(note({ ...files, state: "down", error: "it ended" })).toContain('"files" cannot be reached: it ended');
  expect(note({ ...files, state: "down", error: "again" })).toBeUndefined();
  expect(note({ ...files, state: "starting" })).toBeUndefined();
  expect(note({ ...files, state: "ready" })).toContain('"files" is back');
  expect(note({ ...files, state: "ready" })).toBeUndefined();
});
