import { expect, it } from "vitest";
import { createServerNotes, MAX_FALLEN } from "./server-notes.ts";

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

it("remembers so many servers that fell; of more, only the fall is told", () => {
  const note = createServerNotes();
  const change = (n: number, state: string) => note({ serverId: String(n), name: `s${String(n)}`, state });
  for (let n = 0; n <= MAX_FALLEN; n++) expect(change(n, "down")).toContain("cannot be reached");
  expect(change(MAX_FALLEN - 1, "ready")).toContain("is back");
  expect(change(MAX_FALLEN, "ready")).toBeUndefined();
});
