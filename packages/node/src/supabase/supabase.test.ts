import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type Embedder, silentLogger } from "@ergon/core";
import { createHashEmbedder } from "@ergon/core/store-kit";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { type EmbeddedDatabase, openEmbeddedDatabase } from "./embedded-database.ts";
import { inspectSupabase } from "./inspect-supabase.ts";
import { createSupabase, type Supabase } from "./supabase.ts";
import { createSupabaseClient } from "./supabase-client.ts";

const PATIENCE_MS = 120_000;
vi.setConfig({ testTimeout: PATIENCE_MS, hookTimeout: PATIENCE_MS });

const schema = join(import.meta.dirname, "../../../../supabase");
const folder = mkdtempSync(join(tmpdir(), "ergon-supabase-"));
const open = (embedder: Embedder = createHashEmbedder()): Supabase =>
  createSupabase({ dataFolder: folder, schema, logger: silentLogger, embedder: async () => embedder });
/** Another space: the same texts, vectors of another length. */
const halved: Embedder = {
  model: "test/halved",
  embed: async (texts) => {
    const whole = await createHashEmbedder().embed(texts);
    return whole.map(({ vector }) => ({
      model: "test/halved",
      dimension: 128,
      vector: vector.map((v) => v + 0.01).slice(0, 128),
    }));
  },
};

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the embedded Supabase", () => {
  it("is not made before it is first asked, and keeps what was written", async () => {
    const supabase = open();
    expect(existsSync(join(folder, "supabase"))).toBe(false);
    expect(inspectSupabase(folder, undefined)).toMatchObject({ kind: "embedded", state: "absent" });
    expect((await supabase.client.from("profiles").select("id")).data?.length).toBeGreaterThanOrEqual(60);
    expect(inspectSupabase(folder, undefined)).toMatchObject({ state: "ready" });
    const written = await supabase.client.from("conversation_sessions").insert({ id: "kept", mode: "general" });
    expect(written.error).toBeNull();
    await supabase.close();

    const again = open();
    expect((await again.client.from("conversation_sessions").select("id, mode")).data).toEqual([
      { id: "kept", mode: "general" },
    ]);
    await again.close();
  });

  it.each(["ready.json", "schema-cache.json.new", "pg/postgresql.conf", "pg/base/1/PG_VERSION"])(
    "writes through no link that lies in its folder: %s",
    async (name) => {
      const planted = mkdtempSync(join(folder, "planted-"));
      const victim = join(planted, "victim");
      writeFileSync(victim, "{}");
      const link = join(planted, "supabase", name);
      mkdirSync(dirname(link), { recursive: true });
      if (name !== "ready.json") writeFileSync(join(planted, "supabase/ready.json"), "{}");
      symlinkSync(victim, link);
      const supabase = createSupabase({ dataFolder: planted, schema, logger: silentLogger });
      const { error } = await supabase.client.from("profiles").select("id");
      expect(error?.message).toContain(`${basename(name)} is a symbolic link`);
      expect(readFileSync(victim, "utf8")).toBe("{}");
      await supabase.close();
    },
  );

  it("answers an error after it was closed, and throws nothing", async () => {
    const supabase = open();
    await supabase.close();
    expect((await supabase.client.from("profiles").select("id")).error?.message).toContain("closed");
  });

  it("answers an error where it cannot be opened, and opens once it can", async () => {
    const blocked = createSupabase({ dataFolder: "/dev/null", schema, logger: silentLogger });
    expect((await blocked.client.from("profiles").select("id")).error?.message).toContain("ENOTDIR");
    await blocked.close();
  });

  it("embeds every row when vectors are first compared, and anew for another embedder", async () => {
    const models = async ({ client }: Supabase) => {
      await client.rpc("match_roles_for_profile", { profile_id: "amara-osei" });
      const { data } = await client.from("skills").select("embedding_model, embedding_dimensions");
      return new Set(
        data?.map(({ embedding_model, embedding_dimensions }) => `${embedding_model} ${embedding_dimensions}`),
      );
    };
    const first = open();
    expect(await models(first)).toEqual(new Set(["ergon/hashed-words 256"]));
    await first.close();
    const second = open(halved);
    expect(await models(second)).toEqual(new Set(["test/halved 128"]));
    const { data } = await second.client.from("match_thresholds").select("model, pair");
    expect(data).toContainEqual({ model: "test/halved", pair: "role_skill" });
    await second.close();
  });

  it("embeds again a text that has changed, and only that one", async () => {
    const supabase = open(halved);
    const { client } = supabase;
    await client.from("roles").update({ primary_purpose: "Fly to the moon and back" }).eq("id", "data-engineer");
    const bare = await client.from("roles").select("id").is("embedding", null);
    expect(bare.data).toEqual([{ id: "data-engineer" }]);
    await client.rpc("match_roles_for_role", { role_id: "data-engineer" });
    expect((await client.from("roles").select("id").is("embedding", null)).data).toEqual([]);
    await supabase.close();
  });
});

describe("an embedded Supabase that is opened again", () => {
  const home = mkdtempSync(join(tmpdir(), "ergon-again-"));
  const migrations = join(home, "schema/migrations");
  afterAll(() => rmSync(home, { recursive: true, force: true }));
  const inside = async <T>(work: (database: EmbeddedDatabase) => Promise<T>): Promise<T> => {
    const database = await openEmbeddedDatabase({ folder: join(home, "data"), schema: join(home, "schema") });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  };
  const noteCount = (database: EmbeddedDatabase) =>
    database
      .fetch(new Request("http://test.invalid/rest/v1/notes", { headers: { apikey: database.keys.secret } }))
      .then(async (response) => ({ status: response.status, body: await response.json() }));

  it("keeps what it found out about its tables, and finds out anew after a migration", async () => {
    mkdirSync(migrations, { recursive: true });
    writeFileSync(join(home, "schema/seed.sql"), "");
    writeFileSync(join(migrations, "20260101000000_first.sql"), "create table public.letters (id int primary key);");
    expect((await inside(noteCount)).status).toBe(404);
    const cache = join(home, "data/schema-cache.json");
    expect(readFileSync(cache, "utf8")).toContain("letters");
    expect((await inside(noteCount)).status).toBe(404);

    writeFileSync(join(migrations, "20260102000000_second.sql"), "create table public.notes (id int primary key);");
    expect(await inside(noteCount)).toEqual({ status: 200, body: [] });
    writeFileSync(cache, "{ torn");
    expect(await inside(noteCount)).toEqual({ status: 200, body: [] });
  });
});

describe("access to it", () => {
  let database: EmbeddedDatabase;
  const clientOf = (key: string) =>
    createSupabaseClient({
      url: "http://test.invalid",
      key,
      fetch: (input, init) => database.fetch(new Request(input, init)),
    });

  beforeAll(async () => {
    database = await openEmbeddedDatabase({ folder: join(folder, "supabase"), schema });
  });
  afterAll(() => database.close());

  it("keeps many requests of different roles apart", async () => {
    const anyone = clientOf(database.keys.publishable);
    const server = clientOf(database.keys.secret);
    const asked = Array.from({ length: 20 }, (_, at) =>
      (at % 2 === 0 ? server : anyone).from("skills").select("id").limit(3),
    );
    const answers = await Promise.all(asked);
    expect(answers.map(({ data }) => data?.length ?? 0)).toEqual(asked.map((_, at) => (at % 2 === 0 ? 3 : 0)));
  });

  it("lets nobody in without signing in, and a signed-in person see the catalogue and their own", async () => {
    const anyone = clientOf(database.keys.publishable);
    expect((await anyone.from("roles").select("id")).data ?? []).toEqual([]);
    expect((await anyone.rpc("find_people", { query: "Amara" })).error).not.toBeNull();

    const { data } = await anyone.auth.signUp({
      email: "amara@port-elden.example",
      password: "a long enough password",
    });
    const userId = data.user?.id ?? "";
    await database.query("update profiles set user_id = $1 where id = 'amara-osei'", [userId]);
    expect((await anyone.from("roles").select("id")).data?.length).toBeGreaterThanOrEqual(40);
    expect((await anyone.from("profiles").select("id")).data).toEqual([{ id: "amara-osei" }]);
    const { data: levels } = await anyone.from("profile_capabilities").select("profile_id");
    expect(new Set(levels?.map(({ profile_id }) => String(profile_id)))).toEqual(new Set(["amara-osei"]));
    expect((await anyone.from("profiles").update({ name: "X" }).eq("id", "amara-osei").select()).data ?? []).toEqual(
      [],
    );
    expect((await anyone.rpc("store_embeddings", { for_model: "x", embedded: [] })).error).not.toBeNull();
  });

  it("keeps one person's conversation from another", async () => {
    const one = clientOf(database.keys.publishable);
    await one.auth.signUp({ email: "one@port-elden.example", password: "a long enough password" });
    const made = await one.from("conversation_sessions").insert({ id: "mine", mode: "general" }).select("id");
    expect(made.data).toEqual([{ id: "mine" }]);
    expect(
      (await one.from("chat_messages").insert({ session_id: "mine", sender: "user", message: "hello" })).error,
    ).toBeNull();
    const other = clientOf(database.keys.publishable);
    await other.auth.signUp({ email: "other@port-elden.example", password: "a long enough password" });
    expect((await other.from("chat_messages").select("message")).data).toEqual([]);
    expect(
      (await other.from("chat_messages").insert({ session_id: "mine", sender: "user", message: "x" })).error,
    ).not.toBeNull();
  });

  it("shows all profiles to those who hire", async () => {
    const hiring = clientOf(database.keys.publishable);
    const { data } = await hiring.auth.signUp({
      email: "hiring@port-elden.example",
      password: "a long enough password",
    });
    expect((await hiring.from("profiles").select("id")).data).toEqual([]);
    await database.query("insert into talent_staff (user_id, talent_role) values ($1, 'hiring')", [data.user?.id]);
    expect((await hiring.from("profiles").select("id")).data?.length).toBeGreaterThanOrEqual(60);
  });
});

describe("a hosted Supabase", () => {
  it("is asked at its address, and an error when it is not there", async () => {
    const supabase = createSupabase({
      dataFolder: folder,
      schema,
      logger: silentLogger,
      hosted: { url: "http://127.0.0.1:9", key: "sb_secret_none" },
    });
    expect((await supabase.client.rpc("find_people", { query: "x" })).error?.message).toContain("fetch failed");
    expect(inspectSupabase(folder, "http://127.0.0.1:9")).toEqual({ kind: "hosted", url: "http://127.0.0.1:9" });
    await supabase.close();
  });
});
