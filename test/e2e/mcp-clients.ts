// The official clients, each as a short function: open a connection, then call.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ElicitRequestSchema,
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { DOORS, plainEnvironment } from "./ergon.ts";

export type Target =
  | {
      readonly kind: "stdio";
      readonly data: string;
      readonly args?: readonly string[];
      readonly cwd: string;
      readonly env?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "http"; readonly url: string; readonly token: string };

/** Answers a question as the user would; without one the client says that it cannot ask. */
export type Answerer = (message: string) => Answered | Promise<Answered>;
type Answered = { readonly action: "accept" | "decline" | "cancel"; readonly content?: Content };
type Content = Record<string, string | number | boolean>;

export type Connected = {
  readonly call: (name: string, args: Record<string, unknown>, options?: CallOptions) => Promise<Called>;
  readonly tools: () => Promise<readonly string[]>;
  /** Their addresses, those of templates too. */
  readonly resources: () => Promise<readonly string[]>;
  readonly read: (uri: string) => Promise<readonly Record<string, unknown>[]>;
  readonly prompts: () => Promise<readonly string[]>;
  readonly prompt: (name: string, args: Record<string, string>) => Promise<unknown>;
  /** What an argument of a prompt, or of a resource's template, could become. */
  readonly complete: (
    of: { readonly prompt: string } | { readonly template: string },
    argument: { readonly name: string; readonly value: string },
    given?: Record<string, string>,
  ) => Promise<readonly string[]>;
  readonly subscribe: (uri: string) => Promise<void>;
  /** Lists and resources that the server said have changed. */
  readonly changed: Set<string>;
  readonly close: () => Promise<void>;
};

/** Progress keeps a call alive that takes longer than `timeout`. */
type CallOptions = {
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly timeout?: number;
  readonly signal?: AbortSignal;
  readonly onprogress?: (told: Told) => void;
};
export type Told = {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
};

type Called = { readonly isError: boolean; readonly structured: Record<string, unknown>; readonly text: string };

export const CLIENTS = {
  "SDK v1": connectFirst,
  "SDK v2, 2025": (target: Target, answer?: Answerer) => connectSecond("legacy", target, answer),
  "SDK v2, 2026": (target: Target, answer?: Answerer) => connectSecond({ pin: "2026-07-28" }, target, answer),
} as const;

const INFO = { name: "test", version: "1.0.0" };

async function connectFirst(target: Target, answer?: Answerer): Promise<Connected> {
  const client = new FirstClient(INFO, { capabilities: answer === undefined ? {} : { elicitation: {} } });
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ ...(await answer(params.message)) }));
  }
  const transport =
    target.kind === "stdio"
      ? new FirstStdio(commandOf(target))
      : new FirstHttp(new URL("/mcp", target.url), { requestInit: { headers: headersOf(target) } });
  const changed = new Set<string>();
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void changed.add("resources"));
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => void changed.add("prompts"));
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void changed.add("tools"));
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void changed.add(params.uri));
  await client.connect(transport);
  return connected(client, changed, async (uri) => void (await client.subscribeResource({ uri })));
}

async function connectSecond(
  mode: "legacy" | { readonly pin: string },
  target: Target,
  answer?: Answerer,
): Promise<Connected> {
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
  const changed = new Set<string>();
  const listens = (list: string) => ({ autoRefresh: false, onChanged: () => void changed.add(list) });
  const listChanged = { tools: listens("tools"), resources: listens("resources"), prompts: listens("prompts") };
  const client = new Client(INFO, { capabilities, versionNegotiation: { mode }, listChanged });
  if (answer !== undefined) {
    client.setRequestHandler("elicitation/create", async ({ params }) => ({ ...(await answer(params.message)) }));
  }
  const transport =
    target.kind === "stdio"
      ? new StdioClientTransport(commandOf(target))
      : new StreamableHTTPClientTransport(new URL("/mcp", target.url), { requestInit: { headers: headersOf(target) } });
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void changed.add(params.uri));
  await client.connect(transport);
  return connected(client, changed, async (uri) => {
    if (mode === "legacy") await client.subscribeResource({ uri });
    else await client.listen({ resourceSubscriptions: [uri] });
  });
}

function connected(client: Client | FirstClient, changed: Set<string>, subscribe: Connected["subscribe"]): Connected {
  return {
    subscribe,
    // Listed first: a client that knows the output schemas checks every answer against them.
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, { meta, ...options } = {}) => {
      const params = { name, arguments: args, ...(meta === undefined ? {} : { _meta: { ...meta } }) };
      const given = { ...options, resetTimeoutOnProgress: true };
      const called =
        client instanceof Client ? client.callTool(params, given) : client.callTool(params, undefined, given);
      return calledOf(await called);
    },
    resources: async () => {
      const { resources } = await client.listResources();
      const { resourceTemplates } = await client.listResourceTemplates();
      return [...resources.map(({ uri }) => uri), ...resourceTemplates.map(({ uriTemplate }) => uriTemplate)];
    },
    read: async (uri) => (await client.readResource({ uri })).contents,
    prompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: async (name, args) => (await client.getPrompt({ name, arguments: args })).messages,
    complete: async (of, { name, value }, given = {}) => {
      const ref =
        "prompt" in of
          ? ({ type: "ref/prompt", name: of.prompt } as const)
          : ({ type: "ref/resource", uri: of.template } as const);
      const { completion } = await client.complete({ ref, argument: { name, value }, context: { arguments: given } });
      return completion.values;
    },
    changed,
    close: () => client.close(),
  };
}

export function headersOf({ token }: { readonly token: string }): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function commandOf({ data, args = [], cwd, env: more }: Extract<Target, { kind: "stdio" }>) {
  const env = Object.fromEntries(Object.entries(plainEnvironment()).map(([name, value]) => [name, value ?? ""]));
  return {
    command: process.execPath,
    args: [DOORS.built, "mcp", "--data", data, ...args],
    cwd,
    env: { ...env, ...more },
  };
}

function calledOf(result: Readonly<Record<string, unknown>>): Called {
  const [first] = (result["content"] ?? []) as readonly { readonly text?: string }[];
  return {
    isError: result["isError"] === true,
    structured: (result["structuredContent"] ?? {}) as Record<string, unknown>,
    text: first?.text ?? "",
  };
}
