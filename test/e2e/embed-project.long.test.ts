import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainEnvironment } from "./ergon.ts";
import { startSupabaseProject, type SupabaseProject } from "./supabase-project.ts";

const PATIENCE_MS = 180_000;
const script = join(import.meta.dirname, "../../scripts/embed-project.ts");

describe("embedding the rows of a hosted project", { timeout: PATIENCE_MS }, () => {
  let project: SupabaseProject;
  beforeAll(async () => {
    project = await startSupabaseProject();
  }, PATIENCE_MS);
  afterAll(() => project.close(), PATIENCE_MS);

  const embed = (env: Readonly<Record<string, string>>) =>
    new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((resolve) => {
      const options = { env: { ...plainEnvironment(), ...env } };
      execFile(process.execPath, [script], options, (error, out, err) => {
        resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : 1, out, err });
      });
    });
  const keys = () => ({ SUPABASE_URL: project.url, SUPABASE_SERVICE_ROLE_KEY: project.keys.secret });

  it("gives every row a vector of one model, and then has nothing left to do", async () => {
    const first = await embed(keys());
    expect(first).toMatchObject({ code: 0, err: "" });
    expect(first.out).toMatch(/^\d{3} rows were embedded with \S+\.\n$/);
    for (const table of ["roles", "profiles", "skills", "capabilities"]) {
      const models = await project.query(`select distinct embedding_model from ${table}`);
      expect(models).toHaveLength(1);
      expect(models[0]?.["embedding_model"]).toEqual(expect.stringContaining("embeddings-en"));
    }
    expect(await project.query("select pair from match_thresholds")).toHaveLength(3);
    expect((await embed(keys())).out).toMatch(/^0 rows/);
  });

  it("says what is missing or refused", async () => {
    expect(await embed({})).toMatchObject({ code: 2, err: expect.stringContaining("SUPABASE_URL") as string });
    const refused = await embed({ ...keys(), SUPABASE_SERVICE_ROLE_KEY: project.keys.publishable });
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("could not be stored") as string });
  });
});
