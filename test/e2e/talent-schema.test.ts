import { readFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbeddedDatabase } from "@ergon/node";
import { describe, expect, it } from "vitest";
import { renderTypes } from "../../scripts/database-types/render-types.ts";
import { readSampleData } from "../../scripts/seed/sample-data.ts";
import { seedSql } from "../../scripts/seed/seed-sql.ts";

const root = join(import.meta.dirname, "../..");
const sample = join(root, "supabase/sample");
const withoutLayout = (text: string): string => text.replaceAll(/[\s;]+/g, " ");

describe("the talent pack's schema and sample data", () => {
  it("has a seed.sql that is what the sample makes, the same every time", () => {
    const made = seedSql(sample);
    expect(readFileSync(join(root, "supabase/seed.sql"), "utf8")).toBe(made);
    expect(seedSql(sample)).toBe(made);
  });

  it("has people, roles, skills and capabilities enough to be worth asking", () => {
    const { people, roles, skills, capabilities } = readSampleData(sample);
    expect(people.length).toBeGreaterThanOrEqual(60);
    expect(roles.length).toBeGreaterThanOrEqual(40);
    expect(skills.length).toBeGreaterThanOrEqual(120);
    expect(capabilities.length).toBeGreaterThanOrEqual(40);
    for (const names of [people, skills, capabilities]) {
      expect(new Set(names.map(({ name }) => name)).size).toBe(names.length);
    }
  });

  it("has types that are what the migrations make", async () => {
    const folder = mkdtempSync(join(tmpdir(), "ergon-types-"));
    const database = await openEmbeddedDatabase({ folder, schema: join(root, "supabase") });
    try {
      const kept = readFileSync(join(root, "capabilities/tools/talent/shared/database-types.ts"), "utf8");
      expect(withoutLayout(kept)).toBe(withoutLayout(await renderTypes(database.query)));
    } finally {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 120_000);
});
