import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { createReader, MAX_PREPARED } from "./reader.ts";

describe("the reader", () => {
  it("answers more different questions than it keeps prepared", () => {
    const db = new DatabaseSync(":memory:");
    const reader = createReader(db);
    for (let n = 0; n <= MAX_PREPARED; n += 1) expect(reader.all(`SELECT ${String(n)} AS n`)).toEqual([{ n }]);
    expect(reader.all("SELECT 0 AS n")).toEqual([{ n: 0 }]);
    db.close();
  });
});
