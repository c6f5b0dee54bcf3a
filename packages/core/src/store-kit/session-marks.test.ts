import { describe, expect, it } from "vitest";
import { createMarks, MAX_MARKED_SESSIONS } from "./session-marks.ts";

describe("marks of sessions", () => {
  it("change with their session, and with no other", () => {
    const marks = createMarks();
    const [before, other] = [marks.of("a"), marks.of("b")];
    marks.change("a");
    expect(marks.of("a")).not.toBe(before);
    expect(marks.of("b")).toBe(other);
  });

  it("are forgotten at their bound, and then no session has a mark that it had before", () => {
    const marks = createMarks();
    const had = new Map<string, Set<number>>();
    const note = (id: string) => had.set(id, new Set([...(had.get(id) ?? []), marks.of(id)]));
    for (let index = 0; index < MAX_MARKED_SESSIONS; index += 1) {
      note(`s${String(index)}`);
      marks.change(`s${String(index)}`);
      note(`s${String(index)}`);
    }
    expect(marks.of("s0")).toBe([...(had.get("s0") ?? [])].at(-1));
    marks.change("one more");
    for (const [id, seen] of had) expect(seen).not.toContain(marks.of(id));
  });
});
