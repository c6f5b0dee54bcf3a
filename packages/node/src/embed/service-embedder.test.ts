import { createSystemClock } from "@ergon/core";
import { embedderContract } from "@ergon/core/testing/contracts";
import { afterAll, describe, expect, it } from "vitest";
import { type ScriptedServer, startScriptedServer } from "../models/scripted-server.fixture.ts";
import { createServiceEmbedder } from "./service-embedder.ts";

const servers: ScriptedServer[] = [];
afterAll(async () => {
  for (const { close } of servers) await close();
});

async function open() {
  const server = await startScriptedServer(["unused"]);
  servers.push(server);
  return createServiceEmbedder({ service: serviceAt(server.url), clock: createSystemClock() });
}

const serviceAt = (url: string) =>
  ({ id: "local/e", provider: "local", model: "e", speaks: "openai-compatible", url }) as const;

embedderContract("a provider over HTTP", open);

describe("a provider's embeddings", () => {
  it("say what went wrong", async () => {
    const server = await startScriptedServer(["unused"]);
    await server.close();
    const embedder = createServiceEmbedder({ service: serviceAt(server.url), clock: createSystemClock() });
    const stop = AbortSignal.abort();
    await expect(embedder.embed(["x"], { signal: stop })).rejects.toMatchObject({ code: "cancelled" });
    const refused = createServiceEmbedder({
      service: serviceAt(server.url),
      clock: createSystemClock(),
      fetch: () => Promise.resolve(Response.json({ error: { message: "no" } }, { status: 401 })),
    });
    await expect(refused.embed(["x"])).rejects.toMatchObject({ code: "model_refused" });
  });
});
