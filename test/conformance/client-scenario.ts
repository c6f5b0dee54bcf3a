// What the conformance suite starts as a client: the hub's own manager and connector, against the suite's server. The suite
// names the server as the last argument and says the rest in the environment.
import { createSystemClock, silentLogger, ToolRegistry } from "@ergon/core";
import { MCPClientManager } from "@ergon/core/spec";
import { createMemoryLoginStore } from "@ergon/core/store-kit";
import type { OAuthSettings } from "@ergon/core/hub";
import { createMcpConnector, type LoginPrompt } from "@ergon/node";

type Context = {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
  readonly issuer?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
};

const url = process.argv.at(-1) ?? "";
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as Context;
const SERVER = "suite";
const SAMPLES: Readonly<Record<string, unknown>> = { string: "us-west1", number: 5, integer: 5, boolean: true };

/** Stands for the browser: follows the authorization server to where it sends the person back to. */
const desk: LoginPrompt = {
  redirectUrl: "http://127.0.0.1:3000/callback",
  ask: async (address) => {
    const answer = await fetch(address, { redirect: "manual" });
    return new URL(answer.headers.get("location") ?? "", address).searchParams;
  },
};

const manager = new MCPClientManager({
  connector: createMcpConnector({
    logger: silentLogger,
    logins: createMemoryLoginStore(),
    desk,
    elicit: () => Promise.resolve({ action: "accept", content: {} }),
  }),
  registry: new ToolRegistry(),
  clock: createSystemClock(),
  logger: silentLogger,
});

try {
  await manager.initialize([{ id: SERVER, name: SERVER, url, enabled: true, oauth: oauthSettings() }]);
  const [status] = manager.getServerStatus();
  if (status?.state !== "ready") throw new Error(status?.errors.join("\n") ?? "It is not there.");
  for (const { name, args } of await calls()) {
    // One tool that fails is no reason to leave the others out; the suite sees what was sent.
    await manager.invokeTool(name, args).catch((thrown: unknown) => {
      console.error(thrown);
      process.exitCode = 1;
    });
  }
} catch (thrown) {
  console.error(thrown);
  process.exitCode = 1;
} finally {
  await manager.close();
}

/** What the suite names, or each tool once. */
async function calls(): Promise<readonly { readonly name: string; readonly args: Record<string, unknown> }[]> {
  if (context.toolCalls !== undefined) {
    return context.toolCalls.map((call) => ({ name: `${SERVER}_${call.name}`, args: call.arguments }));
  }
  const tools = await manager.discoverTools();
  return tools.map(({ name, parameters }) => ({ name, args: sampleArgs(parameters as Sampled) }));
}

type Sampled = { readonly properties?: Readonly<Record<string, { readonly type?: string }>> };

function sampleArgs({ properties = {} }: Sampled): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { type = "" }]) => (type in SAMPLES ? [[name, SAMPLES[type]]] : [])),
  );
}

function oauthSettings(): OAuthSettings {
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey, issuer } = context;
  return {
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    ...(scenario.startsWith("auth/client-credentials") ? { grant: "client_credentials" } : {}),
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(privateKey === undefined ? {} : { privateKey, algorithm: context.signing_algorithm ?? "ES256" }),
    ...(issuer === undefined ? {} : { issuer }),
  };
}
