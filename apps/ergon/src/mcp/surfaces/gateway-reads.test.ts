import { type Json, silentLogger } from "@ergon/core";
import type { HubServerStatus } from "@ergon/core/hub";
import { describe, expect, it } from "vitest";
import { gatewayReads, MAX_GATEWAY_LISTED } from "./gateway-reads.ts";
import type { McpWorkspace, WithOwner } from "../drive/with-owner.ts";
import type { McpCall } from "../host/surface.ts";

const status = (name: string, connected = true): HubServerStatus => ({
  id: name,
  name,
  connected,
  toolCount: 0,
  lastPing: null,
  errors: [],
  state: connected ? "ready" : "down",
});

/** Lists as their servers would answer. */
function listing(servers: Readonly<Record<string, Json | Error>>) {
  const desk: McpWorkspace["servers"] = {
    list: async () => ({
      items: [...Object.keys(servers).map((name) => status(name)), status("gone", false)],
      file: "",
      problems: [],
    }),
    ask: async (id) => {
      const said = servers[id];
      if (said === undefined || said instanceof Error) throw said ?? new Error(`"${id}" is not there.`);
      return said;
    },
  };
  const reach: WithOwner = (_, work) => work({ servers: desk } as McpWorkspace);
  const { prompts, resources } = gatewayReads({ reach, logger: silentLogger });
  const call = { signal: new AbortController().signal } as McpCall;
  const begun = { name: "id", value: "a", given: {} };
  return {
    complete: (template: string) => resources?.complete(template, begun, call),
    prompts: async () => ((await prompts?.()) ?? []).map(({ definition }) => definition.name),
    uris: async () => ((await resources?.list({} as McpCall)) ?? []).map(({ uri }) => uri),
  };
}

const resources = (count: number) => ({
  resources: Array.from({ length: count }, (_, at) => ({ uri: `n://${String(at)}`, name: String(at) })),
  resourceTemplates: [],
});

describe("what servers have beside their tools, all together", () => {
  it("is named by its server, and one that fails is left out", async () => {
    const { uris } = listing({ One: resources(1), two: resources(1), bad: new Error("no"), odd: { resources: 7 } });
    expect(await uris()).toEqual(["ergon://servers/one/n://0", "ergon://servers/two/n://0"]);
  });

  it("has no prompts of which two would have one name", async () => {
    const { prompts } = listing({ one: { prompts: [{ name: "a b" }, { name: "a-b" }, { name: "c" }] } });
    expect(await prompts()).toEqual(["one_c"]);
  });

  it("is listed up to a bound, by whole servers", async () => {
    const { uris } = listing({ one: resources(MAX_GATEWAY_LISTED - 1), two: resources(1), three: resources(1) });
    const listed = await uris();
    expect(listed).toHaveLength(MAX_GATEWAY_LISTED);
    expect(listed.at(-1)).toBe("ergon://servers/two/n://0");
  });
});

describe("an argument that somebody has begun", () => {
  const template = (part: string) => `ergon://servers/${part}/n://{id}`;

  it("is completed by the server whose it is, which may know of more", async () => {
    const known = { values: ["ab", "ac"], total: 7, hasMore: true };
    const { complete } = listing({ One: known, two: { values: ["no"] } });
    expect(await complete(template("one"))).toEqual(known);
  });

  it.each(["refuses", "odd", "gone", "nobody"])("is completed with nothing where its server %s", async (part) => {
    const { complete } = listing({ refuses: new Error("no"), odd: { values: [7] } });
    expect(await complete(template(part))).toEqual({ values: [] });
  });

  it("is somebody else's where the template is no server's", async () => {
    expect(await listing({}).complete("ergon://plans/{id}")).toBeUndefined();
  });
});
