import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MCPResponse } from "@ergon/core";
import { generateEmbedding, getConversationContext } from "@ergon/core/spec";
import { createSupabaseMemory } from "@ergon/core/planner";
import { conversationMemoryContract } from "@ergon/core/testing/contracts";
import { createClient } from "@supabase/supabase-js";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startScriptedServer } from "../../packages/node/src/models/scripted-server.fixture.ts";
import { createCallerClient } from "../../supabase/functions/mcp-loop/caller-client.ts";
import { type EdgeFunction, startEdgeFunction } from "./edge-function.ts";
import { ergon, temporaryFolder } from "./ergon.ts";
import { startSupabaseProject, type SupabaseProject } from "./supabase-project.ts";

const PATIENCE_MS = 120_000;
const root = join(import.meta.dirname, "../..");

let project: SupabaseProject;
beforeAll(async () => {
  project = await startSupabaseProject();
}, PATIENCE_MS);
afterAll(() => project.close(), PATIENCE_MS);

const settings = () => ({ SUPABASE_URL: project.url, SUPABASE_ANON_KEY: project.keys.publishable });
const turn = (content: string, sessionId: string) => ({
  mode: "general",
  sessionId,
  messages: [{ role: "user", content }],
});

describe("the edge function under Deno, on a Supabase project", { timeout: PATIENCE_MS }, () => {
  let deployed: EdgeFunction;
  beforeAll(async () => {
    deployed = await startEdgeFunction(settings());
  }, PATIENCE_MS);
  afterAll(() => deployed.stop());
  const ask = async (token: string, content: string, sessionId: string) => {
    const { status, body } = await deployed.ask(token, turn(content, sessionId));
    return { status, answer: body as MCPResponse };
  };

  it("answers from the tables, and its second turn knows what the first was about", async () => {
    const amara = await project.signUp("amara");
    await project.query("update profiles set user_id = $1 where id = 'amara-osei'", [amara.id]);
    const question = "Which capabilities is Amara Osei missing for Data Engineer, and what should she learn first?";
    const { status, answer } = await ask(amara.token, question, "amara-1");
    expect(status).toBe(200);
    expect(answer).toMatchObject({ success: true, data: { trace: { planner: "offline", warnings: [] } } });
    expect(answer.data?.plan?.map(({ tool }) => tool)).toEqual([
      "getCapabilityGaps",
      "getDevelopmentPlan",
      "finalize_summary",
    ]);
    expect(answer.data?.summaryMessage).toContain("Amara Osei is 43% ready for Data Engineer");
    expect(answer.data?.summaryMessage).toContain("should first build Cloud Operations");

    const { answer: second } = await ask(amara.token, "So what is she lacking?", "amara-1");
    expect(second.data?.intermediateResults?.[0]).toMatchObject({
      tool: "getCapabilityGaps",
      input: { profileId: "amara-osei", roleId: "data-engineer" },
      success: true,
    });
    expect(JSON.stringify(second.data?.context?.["recentMessages"])).toContain("43% ready");

    const said = await project.query("select sender, message from chat_messages where session_id = $1 order by id", [
      "amara-1",
    ]);
    expect(said.map(({ sender }) => sender)).toEqual(["user", "assistant", "user", "assistant"]);
    const done = await project.query(
      "select action_type, outcome from agent_actions where session_id = $1 order by id",
      ["amara-1"],
    );
    expect(done.slice(0, 2)).toEqual([
      { action_type: "getCapabilityGaps", outcome: "success" },
      { action_type: "getDevelopmentPlan", outcome: "success" },
    ]);
  });

  it("shows nobody more than their own rights do", async () => {
    const stranger = await project.signUp("stranger");
    const { answer } = await ask(stranger.token, "What is Amara Osei missing for Data Engineer?", "stranger-1");
    expect(JSON.stringify(answer)).not.toContain("43%");
    const { answer: taken } = await ask(stranger.token, "So what is she lacking?", "amara-1");
    expect(JSON.stringify(taken)).not.toContain("43%");
    expect(JSON.stringify(taken.data?.trace)).toContain("another person's");
  });

  it.each(["nonsense", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4Iiwicm9sZSI6InNlcnZpY2Vfcm9sZSJ9.AAAA"])(
    "lets nobody in with the token %s",
    async (token) => {
      expect((await ask(token, "Who is there?", "s")).status).toBe(401);
    },
  );

  it("refuses what cannot be read", async () => {
    const { token } = await project.signUp("reader");
    expect(await deployed.ask(token, { mode: "boss" })).toMatchObject({
      status: 422,
      body: { code: "request_invalid" },
    });
  });
});

describe("ergon on a Supabase project", { timeout: PATIENCE_MS }, () => {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => folder.remove());
  const ask = (words: string, sessionId: string) =>
    ergon(["ask", words, "--session", sessionId, "--json", "--data", join(folder.path, "data")], {
      cwd: folder.path,
      env: { SUPABASE_URL: project.url, SUPABASE_SERVICE_ROLE_KEY: project.keys.secret },
    });

  it("spec 1: writes a turn's messages and actions to the project's tables, where getConversationContext finds them", async () => {
    const { code, err } = await ask("What is Amara Osei missing for Data Engineer?", "recorded-1");
    expect({ code, err }).toMatchObject({ code: 0, err: expect.not.stringContaining("did not record") as string });
    const said = await project.query(
      "select sender, message, embedding_model from chat_messages where session_id = $1 order by id",
      ["recorded-1"],
    );
    expect(said).toMatchObject([
      { sender: "user", message: "What is Amara Osei missing for Data Engineer?" },
      { sender: "assistant", message: expect.stringContaining("43% ready") as string },
    ]);
    const done = await project.query(
      "select action_type, outcome, step_index from agent_actions where session_id = $1 order by id",
      ["recorded-1"],
    );
    expect(done[0]).toEqual({ action_type: "getCapabilityGaps", outcome: "success", step_index: 0 });
    const supabaseClient = createClient(project.url, project.keys.secret, { auth: { persistSession: false } });
    const embeddedMessage = await generateEmbedding("What is missing for Data Engineer?");
    const { recentMessages } = await getConversationContext(supabaseClient, "recorded-1", embeddedMessage);
    expect(recentMessages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("writes nothing into the session of a person, and answers all the same", async () => {
    const { id } = await project.signUp("somebody");
    await project.query("insert into conversation_sessions (id, user_id) values ('theirs', $1)", [id]);
    const { code, err } = await ask("What is Amara Osei missing for Data Engineer?", "theirs");
    expect(code).toBe(0);
    expect(err).toContain("The Supabase project did not record a turn.");
    expect(await project.query("select id from chat_messages where session_id = 'theirs'")).toEqual([]);
  });
});

describe("the edge function with a model", { timeout: PATIENCE_MS }, () => {
  it("lets the model plan and sum up, and the embedder embed what is said", async () => {
    const { token } = await project.signUp("planned");
    const plan = [
      { tool: "getTalentNames", args: {} },
      { tool: "finalize_summary", args: {} },
    ];
    const model = await startScriptedServer([JSON.stringify(plan), "Nobody that you may see."]);
    const deployed = await startEdgeFunction({
      ...settings(),
      ERGON_MODEL: "local/tiny",
      ERGON_MODEL_URL: model.url,
      ERGON_EMBEDDER: "local/letters",
    });
    try {
      const { body } = await deployed.ask(token, turn("Who is there?", "planned-1"));
      expect(body).toMatchObject({
        success: true,
        data: { summaryMessage: "Nobody that you may see.", trace: { planner: "local/tiny" } },
      });
      expect(model.asked()).toBe(2);
      const said = "select distinct embedding_model, embedding_dimensions from chat_messages where session_id = $1";
      expect(await project.query(said, ["planned-1"])).toEqual([
        { embedding_model: "local/letters", embedding_dimensions: 26 },
      ]);
    } finally {
      await deployed.stop();
      await model.close();
    }
  });
});

conversationMemoryContract("chat_messages of a Supabase project", async () => {
  const owners = new Map<string, ReturnType<typeof createSupabaseMemory>>();
  const memoryOf = async (owner: string) => {
    const { token } = owners.has(owner) ? { token: "" } : await project.signUp(`${owner}-${crypto.randomUUID()}`);
    const known =
      owners.get(owner) ??
      createSupabaseMemory(createCallerClient({ url: project.url, key: project.keys.publishable }, token));
    owners.set(owner, known);
    return known;
  };
  return {
    memory: {
      load: async (query) => (await memoryOf(query.owner)).load(query),
      append: async (said) => (await memoryOf(said.owner)).append(said),
    },
    close: async () => {
      await project.query("delete from conversation_sessions where id in ('s1', 's2', 'as1')");
    },
  };
});

describe("the edge function's import map", () => {
  it("names every dependency of what it imports, in the version that is tested here", () => {
    const read = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8")) as Record<string, object>;
    const own = { ...read("packages/core/package.json")["dependencies"] } as Record<string, string>;
    delete own["@ergon/offline-planner"];
    const versions = {
      ...own,
      ...read("packages/offline-planner/package.json")["dependencies"],
      ...read("packages/models/package.json")["dependencies"],
      ...Object.fromEntries(
        Object.entries(read("packages/node/package.json")["dependencies"] ?? {}).filter(
          ([name]) => name === "@supabase/supabase-js",
        ),
      ),
    };
    const imports = Object.values(read("supabase/functions/mcp-loop/deno.json")["imports"] ?? {}) as string[];
    const mapped = imports.flatMap((target) => {
      const [, name, version] = /^npm:\/?(@?[^@]+)@([^/]+)\/?$/.exec(target) ?? [];
      return name === undefined ? [] : [[name, version] as const];
    });
    expect(Object.fromEntries(mapped)).toEqual(versions);
  });
});
